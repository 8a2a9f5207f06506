/// The ways in which a WebSocket server can violate the protocol or a limit.
#ifndef NETCORE_PRIVATE_WEBSOCKET_FAULT_H
#define NETCORE_PRIVATE_WEBSOCKET_FAULT_H

#include <netcore/status.h>

/// The table of faults: X(name, status, close code, text). The close code is the one to send (RFC 6455, 7.4.1).
#define NC_WS_FAULT_MAP(X)                                                                                             \
    X(NONE, NC_OK, 1000, "")                                                                                           \
    X(RESERVED_BITS, NC_ERR_BAD_FRAME, 1002, "a frame has a reserved bit set")                                         \
    X(OPCODE, NC_ERR_BAD_FRAME, 1002, "a frame has a reserved opcode")                                                 \
    X(MASKED, NC_ERR_BAD_FRAME, 1002, "a frame of the server is masked")                                               \
    X(CONTROL_LENGTH, NC_ERR_BAD_FRAME, 1002, "a control frame has more than 125 bytes")                               \
    X(CONTROL_FRAGMENT, NC_ERR_BAD_FRAME, 1002, "a control frame is fragmented")                                       \
    X(LENGTH_FORM, NC_ERR_BAD_FRAME, 1002, "the length of a frame is not in its shortest form")                        \
    X(LENGTH_RANGE, NC_ERR_BAD_FRAME, 1002, "the length of a frame is above 2^63 - 1")                                 \
    X(CONTINUATION, NC_ERR_BAD_FRAME, 1002, "a continuation frame does not follow a fragment")                         \
    X(INTERLEAVED, NC_ERR_BAD_FRAME, 1002, "a message begins before the end of the previous one")                      \
    X(CLOSE_LENGTH, NC_ERR_BAD_FRAME, 1002, "a close frame has one byte")                                              \
    X(CLOSE_CODE, NC_ERR_BAD_FRAME, 1002, "a close frame has a code that must not be sent")                            \
    X(CLOSE_TEXT, NC_ERR_BAD_TEXT, 1007, "the reason of a close frame is not valid UTF-8")                             \
    X(TEXT, NC_ERR_BAD_TEXT, 1007, "a text message is not valid UTF-8")                                                \
    X(DEFLATE, NC_ERR_BAD_DEFLATE, 1007, "a compressed message is damaged")                                            \
    X(FRAME_SIZE, NC_ERR_MESSAGE_TOO_LARGE, 1009, "a frame is larger than its limit (max_frame_bytes)")                \
    X(MESSAGE_SIZE, NC_ERR_MESSAGE_TOO_LARGE, 1009, "a message is larger than its limit (max_message_bytes)")          \
    X(EMPTY_FRAGMENTS, NC_ERR_FRAME_FLOOD, 1008, "a message has too many empty fragments")                             \
    X(CONTROL_FLOOD, NC_ERR_FRAME_FLOOD, 1008, "too many control frames arrived within a second")                      \
    X(MEMORY, NC_ERR_NO_MEMORY, 1011, "memory ran out for a message")

typedef enum nc_ws_fault {
#define NC_WS_FAULT_ENUM(name, status, code, text) NC_WS_FAULT_##name,
    NC_WS_FAULT_MAP(NC_WS_FAULT_ENUM)
#undef NC_WS_FAULT_ENUM
} nc_ws_fault;

nc_status nc_ws_fault_status(nc_ws_fault fault);
uint16_t nc_ws_fault_close_code(nc_ws_fault fault);
const char *nc_ws_fault_text(nc_ws_fault fault);

#endif
