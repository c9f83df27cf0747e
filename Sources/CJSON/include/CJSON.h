#ifndef SHELVMPD_CJSON_H
#define SHELVMPD_CJSON_H
#endif
