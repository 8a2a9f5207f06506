/// A WebSocket (RFC 6455) over an engine, with permessage-deflate (RFC 7692).
///
/// The handshake is a request of the engine: its headers, credentials, cookies, proxy, trust policy, redirects and
/// limits apply. The socket has a connection of its own, and counts as a request in the engine's limits.
///
///     nc_request request = {.url = nc_slice_of("wss://example.com/chat")};
///     nc_socket_sink sink = {.on_message = print, .on_end = finish};
///     if (nc_socket_open(&socket, engine, &request, NULL, &sink, &err) == NC_OK)
///         status = nc_socket_send(socket, NC_SOCKET_TEXT, nc_slice_of("hello"), true, &err);
#ifndef NETCORE_WEBSOCKET_H
#define NETCORE_WEBSOCKET_H

#include <netcore/engine.h>
#include <netcore/hooks.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The default of nc_socket_options.max_frame_bytes and max_message_bytes.
#define NC_SOCKET_DEFAULT_MAX_MESSAGE_BYTES (64u * 1024u * 1024u)
/// The default of nc_socket_options.max_queued_bytes.
#define NC_SOCKET_DEFAULT_MAX_QUEUED_BYTES (16u * 1024u * 1024u)
/// The default of nc_socket_options.ping_interval_ms.
#define NC_SOCKET_DEFAULT_PING_INTERVAL_MS 30000u
/// The default of nc_socket_options.peer_timeout_ms.
#define NC_SOCKET_DEFAULT_PEER_TIMEOUT_MS 90000u
/// The default of nc_socket_options.close_timeout_ms.
#define NC_SOCKET_DEFAULT_CLOSE_TIMEOUT_MS 5000u
/// The largest payload of a ping, in bytes. The reason of a close frame has at most two bytes less.
#define NC_SOCKET_MAX_PING_BYTES 125u
/// In nc_socket_end: the server's close frame has no code.
#define NC_SOCKET_NO_CLOSE_CODE 1005u
/// In nc_socket_end: the connection ended without a close frame.
#define NC_SOCKET_NO_CLOSE_FRAME 1006u

/// A WebSocket. Reference-counted, thread-safe.
typedef struct nc_socket nc_socket;

/// The kind of a message.
typedef NC_ENUM(nc_socket_kind){
    /// UTF-8, checked in both directions.
    NC_SOCKET_TEXT = 1,
    /// Any bytes.
    NC_SOCKET_BINARY = 2,
} nc_socket_kind;

/// Options of a socket, copied. In a limit, 0 selects the default in parentheses.
typedef struct nc_socket_options {
    /// Subprotocols to offer, the preferred one first. Each is a token.
    const nc_slice *NC_NULLABLE protocols;
    /// Number of subprotocols.
    size_t protocol_count;
    /// True offers permessage-deflate. The length of a compressed message reveals something about its content. So do
    /// not mix secrets with text that an attacker chooses.
    bool offers_compression;
    /// True delivers a message in the pieces in which it arrives. False collects it in memory.
    bool delivers_pieces;
    /// Largest payload of a received frame, in bytes (64 MiB). NC_UNLIMITED_BYTES is no limit.
    uint64_t max_frame_bytes;
    /// Largest received message after decompression, in bytes (64 MiB). NC_UNLIMITED_BYTES is no limit.
    uint64_t max_message_bytes;
    /// Largest number of bytes that wait to be sent (16 MiB).
    size_t max_queued_bytes;
    /// Time without a received byte after which a ping is sent, in milliseconds (30 s). NC_UNLIMITED sends none.
    uint32_t ping_interval_ms;
    /// Time without a received byte after which the socket ends with NC_ERR_PEER_TIMED_OUT, in milliseconds (90 s).
    /// NC_UNLIMITED is no limit. Time in which reading is paused does not count.
    uint32_t peer_timeout_ms;
    /// Time for the server to close the connection after the close frame, in milliseconds (5 s).
    uint32_t close_timeout_ms;
    /// Source of the mask keys; copied. NULL means the system's.
    const nc_random *NC_NULLABLE random;
} nc_socket_options;

/// The end of a socket. Everything is borrowed for the call.
typedef struct nc_socket_end {
    /// `status` is NC_OK if both sides have sent a close frame, with any code. If the server violated the
    /// protocol, `native_code` is the close code that was sent. If it refused the handshake, the status is
    /// NC_ERR_UPGRADE_REFUSED and `native_code` the HTTP status.
    const nc_error *error;
    /// The response of the handshake. Its status is 0 if none arrived.
    nc_response *response;
    /// If the handshake was refused: the body of the response, at most 64 KiB of it.
    nc_slice refusal;
    /// The code of the server's close frame, NC_SOCKET_NO_CLOSE_CODE or NC_SOCKET_NO_CLOSE_FRAME.
    uint16_t close_code;
    /// The reason of the server's close frame, in UTF-8.
    nc_slice close_reason;
} nc_socket_end;

/// Receives the response to the handshake. Its Sec-WebSocket-Protocol is the subprotocol that the server chose.
typedef void (*nc_socket_open_fn)(void *NC_NULLABLE ctx, nc_socket *socket, const nc_response *response);
/// Receives a message, or with `delivers_pieces` a piece, possibly empty. `is_last` ends the message. The bytes are
/// borrowed. NC_ACTION_PAUSE stops reading until nc_socket_resume(). Meanwhile the server has to wait.
typedef nc_action (*nc_socket_message_fn)(void *NC_NULLABLE ctx, nc_socket *socket, nc_socket_kind kind, nc_slice bytes,
                                          bool is_last);
/// Receives the payload of a pong.
typedef void (*nc_socket_pong_fn)(void *NC_NULLABLE ctx, nc_socket *socket, nc_slice payload);
/// Reports, after NC_ERR_QUEUE_FULL, that at most half of the queue is in use.
typedef void (*nc_socket_room_fn)(void *NC_NULLABLE ctx, nc_socket *socket);
/// Receives the end of the socket. It is the last callback, and is called exactly once.
typedef void (*nc_socket_end_fn)(void *NC_NULLABLE ctx, nc_socket *socket, const nc_socket_end *end);

/// The callbacks of a socket. They run on the engine's loop thread, one at a time, and must not block. They may call
/// every function of this header.
typedef struct nc_socket_sink {
    /// Passed to each callback.
    void *NC_NULLABLE ctx;
    /// May be NULL.
    nc_socket_open_fn NC_NULLABLE on_open;
    /// May be NULL: messages are then dropped.
    nc_socket_message_fn NC_NULLABLE on_message;
    /// May be NULL.
    nc_socket_pong_fn NC_NULLABLE on_pong;
    /// May be NULL.
    nc_socket_room_fn NC_NULLABLE on_room;
    /// Called exactly once for each opened socket.
    nc_socket_end_fn on_end;
} nc_socket_sink;

/// Starts to open a socket. Never blocks on the network, and never calls a callback itself.
///
/// - out:     a reference for the caller; release it with nc_socket_release(). The socket continues without it.
/// - engine:  must stay valid until on_end.
/// - request: a GET without a body; copied. Its URL has the scheme ws or wss, or http or https. Its limits apply to the
///   handshake. The fields of the handshake are added.
/// - options: NULL means all zero.
/// Returns NC_OK; the errors of nc_request_check(); NC_ERR_UNSUPPORTED for NTLM, Negotiate and HTTP/2; NC_ERR_USAGE for
/// a method, a body, `save_path`, `expectation` or a malformed subprotocol; NC_ERR_BAD_HEADER for a field of the
/// handshake; NC_ERR_CLOSED; NC_ERR_NO_MEMORY. After an error on_end is never called. Thread-safe.
NC_API NC_NODISCARD nc_status nc_socket_open(nc_socket *NC_NULLABLE *NC_NONNULL out, nc_engine *engine,
                                             const nc_request *request, const nc_socket_options *NC_NULLABLE options,
                                             const nc_socket_sink *sink, nc_error *NC_NULLABLE err);

/// Adds a reference and returns its argument.
///
/// Thread-safe.
NC_API nc_socket *nc_socket_retain(nc_socket *socket);

/// Drops a reference. The socket stays open. NULL is allowed.
///
/// Thread-safe.
NC_API void nc_socket_release(nc_socket *NC_NULLABLE socket);

/// Queues a message, or a piece of one. Never blocks on the network. Messages that are queued before the handshake is
/// complete are sent after it.
///
/// - bytes:   copied. A text may be split anywhere, but must be UTF-8 as a whole.
/// - is_last: false if further pieces of the message follow. All of them have the same kind.
/// Returns NC_OK; NC_ERR_QUEUE_FULL (nothing was queued: wait for on_room); NC_ERR_TOO_LARGE (a piece above
/// max_queued_bytes); NC_ERR_BAD_TEXT; NC_ERR_USAGE; NC_ERR_CLOSED (closing or ended); NC_ERR_NO_MEMORY (the socket
/// ends).
/// Thread-safe. If several threads send messages in pieces, the caller must hold a lock for each whole message.
NC_API NC_NODISCARD nc_status nc_socket_send(nc_socket *socket, nc_socket_kind kind, nc_slice bytes, bool is_last,
                                             nc_error *NC_NULLABLE err);

/// Queues a ping. Pings from the server are answered automatically.
///
/// - payload: at most NC_SOCKET_MAX_PING_BYTES; copied.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_QUEUE_FULL, NC_ERR_CLOSED, NC_ERR_NO_MEMORY (the socket ends).
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_socket_ping(nc_socket *socket, nc_slice payload, nc_error *NC_NULLABLE err);

/// Queues the close frame after all queued messages. Messages that arrive before the server's close frame are still
/// delivered.
///
/// - code:   1000 to 1003, 1007 to 1014, or 3000 to 4999; 0 sends no code and requires an empty reason.
/// - reason: UTF-8 of at most 123 bytes; copied.
/// Returns NC_OK; NC_ERR_USAGE; NC_ERR_BAD_TEXT; NC_ERR_CLOSED if the socket is closing or has ended;
/// NC_ERR_NO_MEMORY (the socket ends).
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_socket_close(nc_socket *socket, uint16_t code, nc_slice reason,
                                              nc_error *NC_NULLABLE err);

/// Ends the socket without a close frame. on_end reports NC_ERR_CANCELLED, unless the socket has already ended.
///
/// Thread-safe.
NC_API void nc_socket_cancel(nc_socket *socket);

/// Continues reading after NC_ACTION_PAUSE. Does nothing if reading is not paused.
///
/// Thread-safe.
NC_API void nc_socket_resume(nc_socket *socket);

/// Returns the number of bytes that wait to be sent, including frame headers.
///
/// Thread-safe.
NC_API size_t nc_socket_queued_bytes(nc_socket *socket);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
