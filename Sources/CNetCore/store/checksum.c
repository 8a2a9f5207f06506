#include "store/checksum.h"

#include <pthread.h>
#include <string.h>

#define POLYNOMIAL 0x82F63B78u

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

void nc_checksum_blocks_portable(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count) {
    (void)pthread_once(&tables_once, fill_tables);
    for (size_t i = 0; i < block_count; i++) {
        for (size_t lane = 0; lane < NC_CHECKSUM_LANES; lane++) {
            lanes[lane] = step(lanes[lane], bytes + i * NC_CHECKSUM_BLOCK_BYTES + lane * 8);
        }
    }
}

static void blocks(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count) {
    nc_checksum_blocks_fn native = nc_checksum_blocks_native();
    (native != NULL ? native : nc_checksum_blocks_portable)(lanes, bytes, block_count);
}

nc_checksum nc_checksum_init(void) {
    // The lanes start with different values, so that swapping words between lanes changes the sum.
    return (nc_checksum){.lanes = {0xFFFFFFFFu, 0xEFFFFFFFu, 0xFEFFFFFFu, 0xFFEFFFFFu}};
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
        blocks(sum->lanes, sum->tail, 1);
        sum->tail_bytes = 0;
    }
    size_t whole = left / NC_CHECKSUM_BLOCK_BYTES;
    if (whole != 0) {
        blocks(sum->lanes, at, whole);
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
    // Zeros fill the last block. A final block with the length distinguishes them from zeros in the data.
    memset(sum->tail + sum->tail_bytes, 0, NC_CHECKSUM_BLOCK_BYTES - sum->tail_bytes);
    blocks(sum->lanes, sum->tail, 1);
    for (size_t lane = 0; lane < NC_CHECKSUM_LANES; lane++) {
        put_number(sum->tail + lane * 8, sum->total_bytes, 8);
    }
    blocks(sum->lanes, sum->tail, 1);
    for (size_t lane = 0; lane < NC_CHECKSUM_LANES; lane++) {
        put_number(out + lane * 4, sum->lanes[lane], 4);
    }
}
