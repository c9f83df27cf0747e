#ifndef SHELVMPD_CCURL_H
#define SHELVMPD_CCURL_H
#include <curl/curl.h>
#endif
