/// Covers: ../CNetImages/png_read.c ../CNetImages/png_chunks.c
/// Covers: ../CNetImages/rows.c ../CNetImages/image.c
///
/// A PNG; see image_model.h. Mutants get correct checksums, so that they pass the first check.
#include "image_model.h"

#include <string.h>
#include <zlib.h>

enum { BEFORE_IMAGE = 5, SIGNATURE_BYTES = 8, CHUNK_BYTES = 12 };

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed);

static uint32_t read_32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void repair(uint8_t *at, size_t left) {
    while (left >= CHUNK_BYTES) {
        size_t length = read_32(at);
        if (length > left - CHUNK_BYTES) {
            return;
        }
        uint32_t sum = (uint32_t)crc32(0, at + 4, (uInt)length + 4);
        uint8_t bytes[4] = {(uint8_t)(sum >> 24), (uint8_t)(sum >> 16), (uint8_t)(sum >> 8), (uint8_t)sum};
        memcpy(at + 8 + length, bytes, 4);
        at += length + CHUNK_BYTES;
        left -= length + CHUNK_BYTES;
    }
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned int seed) {
    size = LLVMFuzzerMutate(data, size, max_size);
    // One in eight keeps a wrong checksum.
    if (seed % 8 != 0 && size > BEFORE_IMAGE + SIGNATURE_BYTES) {
        repair(data + BEFORE_IMAGE + SIGNATURE_BYTES, size - BEFORE_IMAGE - SIGNATURE_BYTES);
    }
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return image_check(data, size, nc_slice_make((const uint8_t *)"\x89PNG\r\n\x1A\n", 8));
}
