/// The checksum of an entry: four interleaved CRC-32C, each over every fourth word of eight bytes; 128 bits together.
///
/// Four independent CRCs run in parallel, where one waits for its previous step. Changes within 32 bits are always
/// detected; other damage with high probability. It does not detect tampering: sealed entries do.
#ifndef NETCORE_PRIVATE_STORE_CHECKSUM_H
#define NETCORE_PRIVATE_STORE_CHECKSUM_H

#include <netcore/bytes.h>

enum { NC_CHECKSUM_BYTES = 16, NC_CHECKSUM_LANES = 4, NC_CHECKSUM_BLOCK_BYTES = 32 };

/// A checksum being computed.
typedef struct nc_checksum {
    uint32_t lanes[NC_CHECKSUM_LANES];
    uint8_t tail[NC_CHECKSUM_BLOCK_BYTES]; // bytes of an incomplete block
    size_t tail_bytes;
    uint64_t total_bytes;
} nc_checksum;

nc_checksum nc_checksum_init(void);
void nc_checksum_update(nc_checksum *sum, nc_slice bytes);
/// Writes the checksum of all added bytes. No bytes may be added after it.
void nc_checksum_finish(uint8_t out[NC_CHECKSUM_BYTES], nc_checksum *sum);

/// Adds whole blocks: Castagnoli's polynomial, reflected, without the inversions at start and end.
typedef void (*nc_checksum_blocks_fn)(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count);
/// The table-driven version in portable C.
void nc_checksum_blocks_portable(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count);
/// Returns the version with the processor's CRC instruction, or NULL if it has none.
nc_checksum_blocks_fn nc_checksum_blocks_native(void);

#endif
