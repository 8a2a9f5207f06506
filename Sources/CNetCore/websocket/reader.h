/// Reads the frames of a WebSocket server (RFC 6455), without I/O.
///
/// The result is the same for every split of the input. Data is delivered as it arrives, so the reader itself needs
/// constant memory. A text is checked while it arrives.
#ifndef NETCORE_PRIVATE_WEBSOCKET_READER_H
#define NETCORE_PRIVATE_WEBSOCKET_READER_H

#include "base/utf8.h"
#include "websocket/deflate.h"
#include "websocket/fault.h"
#include "websocket/frame.h"

/// A message may have this many empty fragments in a row.
enum { NC_WS_MAX_EMPTY_FRAGMENTS = 1000 };

typedef enum nc_ws_event_kind {
    NC_WS_NEEDS_MORE, // the input is consumed
    NC_WS_DATA,       // a piece of a message
    NC_WS_GOT_PING,
    NC_WS_GOT_PONG,
    NC_WS_GOT_CLOSE, // nothing after it is read
} nc_ws_event_kind;

typedef struct nc_ws_event {
    nc_ws_event_kind kind;
    nc_slice bytes; // the piece, the payload, or the reason; valid until the next call and while the input is
    bool is_text;
    bool is_first;       // of the message
    bool is_last;        // of the message
    uint16_t close_code; // 1005 if the frame has none
} nc_ws_event;

typedef struct nc_ws_reader {
    // Set by the caller before the first byte.
    uint64_t max_frame_bytes;   // payload as it arrives
    uint64_t max_message_bytes; // after decompression; UINT64_MAX is no limit
    nc_ws_deflate_terms terms;

    uint8_t head[NC_WS_MAX_HEAD_BYTES];
    uint8_t head_length;
    uint8_t control[NC_WS_MAX_CONTROL_BYTES];
    uint8_t control_length;
    bool is_in_payload;
    bool is_closed;
    nc_ws_fault fault;

    uint8_t opcode;
    bool is_final;
    uint64_t left; // of the frame's payload

    bool is_in_message;
    bool is_text;
    bool is_compressed;
    bool is_begun; // a piece was delivered
    bool has_more; // the decompressor may have output without input
    uint32_t empty_fragments;
    uint64_t wire_bytes; // of the message's payloads
    uint64_t message_bytes;
    nc_utf8_check text;
    nc_ws_inflater *inflater; // created at the first compressed message
    uint8_t *piece;
} nc_ws_reader;

void nc_ws_reader_deinit(nc_ws_reader *reader);

/// Reads the next event from `in`, which is advanced. Returns NC_WS_FAULT_NONE, or the fault, after which every call
/// returns it again.
NC_NODISCARD nc_ws_fault nc_ws_reader_next(nc_ws_reader *reader, nc_slice *in, nc_ws_event *event);

#endif
