/// permessage-deflate (RFC 7692): its negotiation, and the compression of messages in both directions.
#ifndef NETCORE_PRIVATE_WEBSOCKET_DEFLATE_H
#define NETCORE_PRIVATE_WEBSOCKET_DEFLATE_H

#include <netcore/bytes.h>

/// The negotiated parameters. All zero: messages are not compressed.
typedef struct nc_ws_deflate_terms {
    bool is_agreed;
    bool server_resets;  // server_no_context_takeover
    bool client_resets;  // client_no_context_takeover
    uint8_t server_bits; // 8 to 15
    uint8_t client_bits; // 8 to 15
} nc_ws_deflate_terms;

/// The value of Sec-WebSocket-Extensions that a client sends.
#define NC_WS_DEFLATE_OFFER "permessage-deflate; client_max_window_bits"

/// Parses the server's Sec-WebSocket-Extensions. An empty value is no extension.
///
/// - is_offered: the client sent NC_WS_DEFLATE_OFFER.
/// Returns NC_OK; NC_ERR_BAD_UPGRADE for an extension that was not offered, for an unknown, repeated or invalid
/// parameter. Pure.
NC_NODISCARD nc_status nc_ws_deflate_parse(nc_ws_deflate_terms *out, nc_slice value, bool is_offered, nc_error *err);

/// Compresses the client's messages. Created at the first message, because it takes up to 256 KiB.
typedef struct nc_ws_deflater nc_ws_deflater;

/// Returns NULL if memory is exhausted. `terms->client_bits` must be above 8: zlib has no raw window of 8 bits.
nc_ws_deflater *nc_ws_deflater_new(const nc_ws_deflate_terms *terms);
void nc_ws_deflater_free(nc_ws_deflater *deflater);
/// Appends the compressed form of a piece of a message. Errors are sticky in `out`; NC_ERR_NO_MEMORY is then the only
/// one besides the maximum of `out`.
void nc_ws_deflater_add(nc_ws_deflater *deflater, nc_slice piece, bool is_last, nc_buf *out);

/// Decompresses the server's messages.
typedef struct nc_ws_inflater nc_ws_inflater;

/// Returns NULL if memory is exhausted.
nc_ws_inflater *nc_ws_inflater_new(const nc_ws_deflate_terms *terms);
void nc_ws_inflater_free(nc_ws_inflater *inflater);
/// Decompresses bytes from `in`, which is advanced, to at most `capacity` bytes at `out`.
///
/// `*filled` equal to `capacity` means that more may follow without input. Returns NC_OK, NC_ERR_BAD_DEFLATE,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_ws_inflater_next(nc_ws_inflater *inflater, nc_slice *in, uint8_t *out, size_t capacity,
                                           size_t *filled);
/// Does the same for the bytes that the sender has removed from the end of the message (RFC 7692, 7.2.2). The message
/// ends when `*filled` is below `capacity`.
NC_NODISCARD nc_status nc_ws_inflater_end(nc_ws_inflater *inflater, uint8_t *out, size_t capacity, size_t *filled);

#endif
