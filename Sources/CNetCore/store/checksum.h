/// The checksum of an entry, 128 bits: four CRC-32C. The data are words of eight bytes; each CRC covers every fourth
/// word.
///
/// A processor computes four independent CRCs in parallel, whereas each step of a single CRC waits for the previous
/// step. A change within 32 bits is always detected, other damage with high probability. The checksum does not detect
/// tampering; sealing (seal.h) does.
#ifndef NETCORE_PRIVATE_CHECKSUM_H
#define NETCORE_PRIVATE_CHECKSUM_H

#include <netcore/bytes.h>

enum { NC_CHECKSUM_BYTES = 16, NC_CHECKSUM_SUMS = 4, NC_CHECKSUM_BLOCK_BYTES = 32 };

/// A checksum being computed.
typedef struct nc_checksum {
    uint32_t sums[NC_CHECKSUM_SUMS];
    uint8_t tail[NC_CHECKSUM_BLOCK_BYTES]; // bytes of an incomplete block
    size_t tail_bytes;
    uint64_t total_bytes;
} nc_checksum;

nc_checksum nc_checksum_init(void);
void nc_checksum_update(nc_checksum *sum, nc_slice bytes);
/// Writes the checksum of all added bytes. No bytes may be added after it.
void nc_checksum_finish(uint8_t out[NC_CHECKSUM_BYTES], nc_checksum *sum);

/// Adds whole blocks of NC_CHECKSUM_BLOCK_BYTES. CRC-32C with Castagnoli's reflected polynomial, without the usual
/// inversions at start and end.
typedef void (*nc_checksum_blocks_fn)(uint32_t sums[NC_CHECKSUM_SUMS], const uint8_t *bytes, size_t block_count);
/// The table-driven version in portable C.
void nc_checksum_blocks_portable(uint32_t sums[NC_CHECKSUM_SUMS], const uint8_t *bytes, size_t block_count);
/// Returns the version that uses the processor's CRC instruction, or NULL if there is no such instruction.
nc_checksum_blocks_fn nc_checksum_blocks_native(void);

#endif
