/// OpenSSL's memory, for fuzzers of certificates.
///
/// To decode one public key OpenSSL 3 allocates about a thousand blocks. ASan's general allocator then takes most of a
/// run. These blocks have few sizes and are reused, with the same protection: surroundings and freed blocks are
/// poisoned, and a freed block waits before it is reused.
#ifndef FUZZ_OPENSSL_MEMORY_H
#define FUZZ_OPENSSL_MEMORY_H

#include <stddef.h>

/// Makes OpenSSL use it. Must be called before any other function of OpenSSL.
void openssl_memory_install(void);

/// Returns the number of blocks that OpenSSL holds. Repeating the same work must not increase it.
size_t openssl_memory_live(void);

#endif
