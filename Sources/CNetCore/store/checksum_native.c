#include "store/checksum.h"

#include <string.h>

#if defined(__x86_64__)

#include <nmmintrin.h>

// Clang 18 and later count the CRC instructions as a feature of their own.
__attribute__((target("sse4.2,crc32"))) static void blocks(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes,
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

#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#if defined(__linux__)
#include <sys/auxv.h>
#endif

// Clang before 16 does not declare the intrinsic of arm_acle.h if only the function has the feature.
#if defined(__clang__)
#define WITH_CRC __attribute__((target("crc")))
#define CRC32C_WORD __builtin_arm_crc32cd
#else
#define WITH_CRC __attribute__((target("+crc")))
#define CRC32C_WORD __builtin_aarch64_crc32cx
#endif

WITH_CRC static void blocks(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count) {
    for (size_t i = 0; i < block_count; i++) {
        uint64_t words[NC_CHECKSUM_LANES];
        memcpy(words, bytes + i * NC_CHECKSUM_BLOCK_BYTES, sizeof words);
        for (size_t lane = 0; lane < NC_CHECKSUM_LANES; lane++) {
            lanes[lane] = CRC32C_WORD(lanes[lane], words[lane]);
        }
    }
}

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
#if defined(__ARM_FEATURE_CRC32)
    return blocks;
#elif defined(__linux__)
    // The instructions are optional in ARMv8.0. The kernel reports them as HWCAP_CRC32.
    return (getauxval(AT_HWCAP) & (1u << 7)) != 0 ? blocks : NULL;
#else
    return NULL;
#endif
}

#else

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
    return NULL;
}

#endif
