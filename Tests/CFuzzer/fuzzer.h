// libFuzzer without its main function, as the toolchain's clang brings it: libclang_rt.fuzzer_no_main.

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*target)(const uint8_t *bytes, size_t count));
