/// The check of an entry's bytes: four CRC-32C side by side, each over every fourth word of eight bytes.
///
/// One CRC waits for its own last step; four do not wait for each other, and together they are 128 bits. Whatever
/// changes within 32 bits of one another, single bits above all, is found for certain; other damage but by chance.
/// It finds damage, not malice: for that, entries are sealed.
#ifndef NETCORE_PRIVATE_STORE_CHECKSUM_H
#define NETCORE_PRIVATE_STORE_CHECKSUM_H

#include <netcore/bytes.h>

enum { NC_CHECKSUM_BYTES = 16, NC_CHECKSUM_LANES = 4, NC_CHECKSUM_BLOCK_BYTES = 32 };

/// A check that is being computed.
typedef struct nc_checksum {
    uint32_t lanes[NC_CHECKSUM_LANES];
    uint8_t tail[NC_CHECKSUM_BLOCK_BYTES]; // bytes that fill no block yet
    size_t tail_bytes;
    uint64_t total_bytes;
} nc_checksum;

nc_checksum nc_checksum_init(void);
void nc_checksum_update(nc_checksum *sum, nc_slice bytes);
/// Writes the check of all that was added; nothing may be added afterwards.
void nc_checksum_finish(uint8_t out[NC_CHECKSUM_BYTES], nc_checksum *sum);

/// Takes whole blocks: Castagnoli's polynomial, reflected, without the inversions at start and end.
typedef void (*nc_checksum_blocks_fn)(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count);
/// In plain C, by tables.
void nc_checksum_blocks_portable(uint32_t lanes[NC_CHECKSUM_LANES], const uint8_t *bytes, size_t block_count);
/// With the processor's own instruction; NULL where it has none.
nc_checksum_blocks_fn nc_checksum_blocks_native(void);

#endif
