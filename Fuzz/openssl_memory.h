/// OpenSSL's memory, for fuzzers of certificates.
///
/// To decode one public key OpenSSL 3 allocates about a thousand blocks, and ASan's allocator, made for everything,
/// then is most of a run. Here are blocks of a few sizes that are kept and used again, as well guarded: what lies
/// around a block and what was freed is poisoned, and a freed one rests before it is used again.
#ifndef FUZZ_OPENSSL_MEMORY_H
#define FUZZ_OPENSSL_MEMORY_H

#include <stddef.h>

/// Has OpenSSL use it; before anything of OpenSSL's is called.
void openssl_memory_install(void);

/// How many blocks OpenSSL holds now: after the same work twice, no more than after the first time.
size_t openssl_memory_live(void);

#endif
