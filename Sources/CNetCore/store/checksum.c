#include "store/checksum.h"

#include <pthread.h>
#include <string.h>
#if defined(__x86_64__)
#include <nmmintrin.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <sys/auxv.h>
#endif

#define POLYNOMIAL 0x82F63B78u

/* --- in portable C --- */

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void fill_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? POLYNOMIAL : 0);
        }
        tables[0][byte] = crc;
    }
    for (size_t level = 1; level < 8; level++) {
        for (size_t byte = 0; byte < 256; byte++) {
            uint32_t below = tables[level - 1][byte];
            tables[level][byte] = (below >> 8) ^ tables[0][below & 0xFF];
        }
    }
}

static uint32_t word_of(const uint8_t *bytes) {
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static uint32_t step(uint32_t crc, const uint8_t *bytes) {
    uint32_t low = crc ^ word_of(bytes);
    uint32_t high = word_of(bytes + 4);
    return tables[7][low & 0xFF] ^ tables[6][low >> 8 & 0xFF] ^ tables[5][low >> 16 & 0xFF] ^ tables[4][low >> 24] ^
           tables[3][high & 0xFF] ^ tables[2][high >> 8 & 0xFF] ^ tables[1][high >> 16 & 0xFF] ^ tables[0][high >> 24];
}

void nc_checksum_blocks_portable(uint32_t sums[NC_CHECKSUM_SUMS], const uint8_t *bytes, size_t block_count) {
    (void)pthread_once(&tables_once, fill_tables);
    for (size_t i = 0; i < block_count; i++) {
        for (size_t sum_index = 0; sum_index < NC_CHECKSUM_SUMS; sum_index++) {
            sums[sum_index] = step(sums[sum_index], bytes + i * NC_CHECKSUM_BLOCK_BYTES + sum_index * 8);
        }
    }
}

/* --- with the processor's instruction --- */

#if defined(__x86_64__)

// Clang 18 and later need "crc32" for the CRC instructions, in addition to "sse4.2".
__attribute__((target("sse4.2,crc32"))) static void native_blocks(uint32_t sums[NC_CHECKSUM_SUMS], const uint8_t *bytes,
                                                                  size_t block_count) {
    uint64_t a = sums[0];
    uint64_t b = sums[1];
    uint64_t c = sums[2];
    uint64_t d = sums[3];
    for (size_t i = 0; i < block_count; i++) {
        uint64_t words[NC_CHECKSUM_SUMS];
        memcpy(words, bytes + i * NC_CHECKSUM_BLOCK_BYTES, sizeof words);
        a = _mm_crc32_u64(a, words[0]);
        b = _mm_crc32_u64(b, words[1]);
        c = _mm_crc32_u64(c, words[2]);
        d = _mm_crc32_u64(d, words[3]);
    }
    sums[0] = (uint32_t)a;
    sums[1] = (uint32_t)b;
    sums[2] = (uint32_t)c;
    sums[3] = (uint32_t)d;
}

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
    return __builtin_cpu_supports("sse4.2") ? native_blocks : NULL;
}

#elif defined(__aarch64__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

// The intrinsic of arm_acle.h is not used, because Clang before 16 does not declare it if only this function has the
// feature.
#if defined(__clang__)
#define WITH_CRC __attribute__((target("crc")))
#define CRC32C_WORD __builtin_arm_crc32cd
#else
#define WITH_CRC __attribute__((target("+crc")))
#define CRC32C_WORD __builtin_aarch64_crc32cx
#endif

WITH_CRC static void native_blocks(uint32_t sums[NC_CHECKSUM_SUMS], const uint8_t *bytes, size_t block_count) {
    for (size_t i = 0; i < block_count; i++) {
        uint64_t words[NC_CHECKSUM_SUMS];
        memcpy(words, bytes + i * NC_CHECKSUM_BLOCK_BYTES, sizeof words);
        for (size_t sum_index = 0; sum_index < NC_CHECKSUM_SUMS; sum_index++) {
            sums[sum_index] = CRC32C_WORD(sums[sum_index], words[sum_index]);
        }
    }
}

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
#if defined(__ARM_FEATURE_CRC32)
    return native_blocks;
#elif defined(__linux__)
    // The instructions are optional in ARMv8.0. The kernel reports them as HWCAP_CRC32.
    return (getauxval(AT_HWCAP) & (1u << 7)) != 0 ? native_blocks : NULL;
#else
    return NULL;
#endif
}

#else

nc_checksum_blocks_fn nc_checksum_blocks_native(void) {
    return NULL;
}

#endif

/* --- checksum --- */

static void blocks(uint32_t sums[NC_CHECKSUM_SUMS], const uint8_t *bytes, size_t block_count) {
    nc_checksum_blocks_fn native = nc_checksum_blocks_native();
    (native != NULL ? native : nc_checksum_blocks_portable)(sums, bytes, block_count);
}

nc_checksum nc_checksum_init(void) {
    // The four CRCs start with different values, so that swapping words between them changes the checksum.
    return (nc_checksum){.sums = {0xFFFFFFFFu, 0xEFFFFFFFu, 0xFEFFFFFFu, 0xFFEFFFFFu}};
}

void nc_checksum_update(nc_checksum *sum, nc_slice bytes) {
    if (bytes.length == 0) {
        return;
    }
    const uint8_t *at = bytes.data;
    size_t left = bytes.length;
    sum->total_bytes += left;
    if (sum->tail_bytes != 0) {
        size_t wanted = NC_CHECKSUM_BLOCK_BYTES - sum->tail_bytes;
        size_t taken = left < wanted ? left : wanted;
        memcpy(sum->tail + sum->tail_bytes, at, taken);
        sum->tail_bytes += taken;
        at += taken;
        left -= taken;
        if (sum->tail_bytes < NC_CHECKSUM_BLOCK_BYTES) {
            return;
        }
        blocks(sum->sums, sum->tail, 1);
        sum->tail_bytes = 0;
    }
    size_t whole = left / NC_CHECKSUM_BLOCK_BYTES;
    if (whole != 0) {
        blocks(sum->sums, at, whole);
    }
    sum->tail_bytes = left % NC_CHECKSUM_BLOCK_BYTES;
    memcpy(sum->tail, at + whole * NC_CHECKSUM_BLOCK_BYTES, sum->tail_bytes);
}

static void put_number(uint8_t *out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(number >> (8 * i));
    }
}

void nc_checksum_finish(uint8_t out[NC_CHECKSUM_BYTES], nc_checksum *sum) {
    // Zeros fill the last block. A further block with the total length distinguishes them from zeros in the data.
    memset(sum->tail + sum->tail_bytes, 0, NC_CHECKSUM_BLOCK_BYTES - sum->tail_bytes);
    blocks(sum->sums, sum->tail, 1);
    for (size_t sum_index = 0; sum_index < NC_CHECKSUM_SUMS; sum_index++) {
        put_number(sum->tail + sum_index * 8, sum->total_bytes, 8);
    }
    blocks(sum->sums, sum->tail, 1);
    for (size_t sum_index = 0; sum_index < NC_CHECKSUM_SUMS; sum_index++) {
        put_number(out + sum_index * 4, sum->sums[sum_index], 4);
    }
}
