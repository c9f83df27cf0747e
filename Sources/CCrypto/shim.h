#ifndef SHELVMPD_CCRYPTO_H
#define SHELVMPD_CCRYPTO_H
#include <openssl/evp.h>
#include <openssl/rand.h>
#endif
