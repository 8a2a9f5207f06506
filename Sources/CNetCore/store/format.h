/// The format of an entry's file. It consists of a header of fixed length, the texts (key, host, tags, metadata) and
/// the body.
///
/// Numbers are little-endian:
///
///       0  magic, 8 bytes        32  body's length, 8              56  salt, 16
///       8  version, 4            40  created, ms since 1970, 8     72  id of the sealing key, 8
///      12  flags, 4              48  lifetime in ms, 8             80  checksum of the stored body, 16
///      16  lengths of key, host, tags and metadata, 4 each         96  zeros, 16
///     112  checksum of the header up to here and of the stored texts, 16
///
/// In a sealed (encrypted) entry, an authentication tag follows the texts and each piece of NC_ENTRY_PIECE_BYTES of the
/// body. "Stored" means as it is in the file, that is, sealed. Header and texts together are the front of the file.
#ifndef NETCORE_PRIVATE_FORMAT_H
#define NETCORE_PRIVATE_FORMAT_H

#include "store/checksum.h"

#include <netcore/bytes.h>
#include <netcore/store.h>

enum {
    NC_ENTRY_HEADER_BYTES = 128,
    /// The part of the header that the checksum covers and that is the associated data of sealed texts.
    NC_ENTRY_CHECKED_BYTES = 112,
    NC_ENTRY_VERSION = 1,
    NC_ENTRY_SALT_BYTES = 16,
    NC_ENTRY_KEY_ID_BYTES = 8,
    NC_ENTRY_TAG_BYTES = 16,
    NC_ENTRY_PIECE_BYTES = 65536,
};

/// A header's fields.
typedef struct nc_entry_head {
    bool is_sealed;
    uint32_t key_bytes;
    uint32_t host_bytes;
    uint32_t tags_bytes;
    uint32_t metadata_bytes;
    uint64_t body_bytes;
    int64_t created_at_ms;
    uint64_t lifetime_ms;
    uint8_t salt[NC_ENTRY_SALT_BYTES];
    uint8_t key_id[NC_ENTRY_KEY_ID_BYTES];
    uint8_t body_check[NC_CHECKSUM_BYTES];
} nc_entry_head;

/// Checks the lengths of a draft's texts, and fills `out` from the draft. Returns NC_OK, NC_ERR_USAGE,
/// NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_entry_head_init(nc_entry_head *out, const nc_store_draft *draft, int64_t now_ms,
                                          nc_error *err);
/// Writes the header up to its checksum.
void nc_entry_head_write(uint8_t out[NC_ENTRY_CHECKED_BYTES], const nc_entry_head *head);
/// Computes the checksum of the header and of the stored texts, and writes it to the end of the header.
void nc_entry_head_write_checksum(uint8_t header[NC_ENTRY_HEADER_BYTES], nc_slice texts);
/// Parses a header without verifying its checksum. Returns false if it is not a header of this version, or if a length
/// is out of range. On success the sum of the lengths does not overflow.
NC_NODISCARD bool nc_entry_head_read(nc_entry_head *out, const uint8_t header[NC_ENTRY_HEADER_BYTES]);
/// Returns true if header and stored texts match their checksum.
NC_NODISCARD bool nc_entry_head_is_whole(const uint8_t header[NC_ENTRY_HEADER_BYTES], nc_slice texts);

/// Returns the size of all texts, without the tag.
size_t nc_entry_texts_bytes(const nc_entry_head *head);
/// Returns the size of header and texts in the file.
size_t nc_entry_front_bytes(const nc_entry_head *head);
/// Returns the size of the body in the file.
uint64_t nc_entry_stored_body_bytes(const nc_entry_head *head);
/// Returns the size of the file.
uint64_t nc_entry_file_bytes(const nc_entry_head *head);

/// Returns true if the entry has expired. An entry with a lifetime has also expired if its creation time is in the
/// future.
NC_NODISCARD bool nc_entry_is_expired(const nc_entry_head *head, int64_t now_ms);

/// Fills `out` for a hit. Its slices point into `texts`, which must be unsealed; the body stays empty.
void nc_entry_describe(nc_store_entry *out, const nc_entry_head *head, const uint8_t *texts);

#endif
