/// A decoder of the header blocks of one direction of an HTTP/2 connection (RFC 7541).
///
/// The decoder must receive all blocks of the direction, in order. Its dynamic table has at most 4,096 bytes, the
/// initial SETTINGS_HEADER_TABLE_SIZE (RFC 9113, 6.5.2). A block that raises this limit is malformed.
///
/// The decoder does not check names and values. The caller must validate them.
///
///     nc_hpack *hpack = nc_hpack_new();
///     nc_status status = nc_hpack_decode(hpack, block, take_field, &fields);
///     nc_hpack_free(hpack);
///
/// Not thread-safe: use from one thread at a time.
#ifndef NETCORE_PRIVATE_HPACK_H
#define NETCORE_PRIVATE_HPACK_H

#include <netcore/bytes.h>

/// The maximum total length of the names and values of one block, in bytes.
enum { NC_HPACK_MAX_BLOCK_BYTES = 128 << 10 };

typedef struct nc_hpack nc_hpack;

/// Called for each field of a block. `name` and `value` are valid until the function returns.
typedef void (*nc_hpack_take)(void *ctx, nc_slice name, nc_slice value);

/// Creates a decoder with an empty table. Returns NULL if memory is exhausted. The caller frees it.
NC_NODISCARD nc_hpack *nc_hpack_new(void);
/// Frees a decoder. NULL is allowed.
void nc_hpack_free(nc_hpack *hpack);

/// Decodes a whole block. Returns NC_OK, NC_ERR_BAD_RESPONSE for a malformed block, NC_ERR_TOO_LARGE for more than
/// NC_HPACK_MAX_BLOCK_BYTES, or NC_ERR_NO_MEMORY. After an error the dynamic table is invalid, so the caller must not
/// decode another block with this decoder.
NC_NODISCARD nc_status nc_hpack_decode(nc_hpack *hpack, nc_slice block, nc_hpack_take take, void *ctx);

#endif
