#include "store/checksum.h"

#include <string.h>

#if defined(__x86_64__)

#include <nmmintrin.h>

__attribute__((target("sse4.2"))) static void blocks(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes,
                                                     size_t block_count) {
    uint64_t a = lanes[0];
    uint64_t b = lanes[1];
    uint64_t c = lanes[2];
    uint64_t d = lanes[3];
    for (size_t i = 0; i < block_count; i++) {
        uint64_t words[NC_CHECKSUM_LANES];
        memcpy(words, bytes + i * NC_CHECKSUM_BLOCK_BYTES, sizeof words);
        a = _mm_crc32_u64(a, words[0]);
        b = _mm_crc32_u64(b, words[1]);
        c = _mm_crc32_u64(c, words[2]);
        d = _mm_crc32_u64(d, words[3]);
    }
    lanes[0] = (uint32_t)a;
    lanes[1] = (uint32_t)b;
    lanes[2] = (uint32_t)c;
    lanes[3] = (uint32_t)d;
}

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
    return __builtin_cpu_supports("sse4.2") ? blocks : NULL;
}

#elif defined(__aarch64__) && defined(__ARM_FEATURE_CRC32) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <arm_acle.h>

static void blocks(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count) {
    for (size_t i = 0; i < block_count; i++) {
        uint64_t words[NC_CHECKSUM_LANES];
        memcpy(words, bytes + i * NC_CHECKSUM_BLOCK_BYTES, sizeof words);
        for (size_t lane = 0; lane < NC_CHECKSUM_LANES; lane++) {
            lanes[lane] = __crc32cd(lanes[lane], words[lane]);
        }
    }
}

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
    return blocks;
}

#else

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
    return NULL;
}

#endif
