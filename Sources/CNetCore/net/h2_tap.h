/// An independent reader of the frames of an HTTP/2 connection over TLS.
///
/// libcurl does not report how a stream ended. libcurl 7.88 treats most connection errors as a success if part of a
/// body without a length has arrived. Every version so far does that for RST_STREAM with NO_ERROR. The tap gets the
/// socket's bytes and the connection's keys, decrypts the frame heads (trust/tls_records.h) and reads them
/// (h2_frames.h). So END_STREAM, RST_STREAM and GOAWAY are known. It also decodes the response's header blocks, because
/// nghttp2 rejects some valid ones (h2_answer.h).
///
/// It costs one cipher block per frame head, the decoding of each header block, and about 20 KiB per connection. Event
/// loop thread only.
#ifndef NETCORE_PRIVATE_H2_TAP_H
#define NETCORE_PRIVATE_H2_TAP_H

#include "base/list.h"
#include "net/h2_answer.h"

struct ssl_st; // OpenSSL's SSL

/// The state of one stream. It belongs to a transfer, which removes it from the list when its hop ends.
typedef struct nc_h2_stream {
    nc_link link;
    uint32_t id;
    uint64_t data_bytes;  // of complete frames, without padding
    bool has_end;         // END_STREAM
    bool ends_with_block; // and it came with a header block: the head or the trailers
    bool is_reset;        // by the server
    bool is_refused;      // by nghttp2, because the response violates a rule
    bool has_head;        // its first header block arrived, other than a valid interim response
    uint32_t reset_code;
    nc_h2_answer *answer; // parsed by the engine, if nghttp2 may reject it; NULL for none
} nc_h2_stream;

typedef struct nc_h2_tap nc_h2_tap;

/// Creates a tap for a connection whose handshake begins. Returns NULL if memory is exhausted. The caller frees it.
NC_NODISCARD nc_h2_tap *nc_h2_tap_new(void);
/// Drops keys and bytes; what is known stays.
void nc_h2_tap_close(nc_h2_tap *tap);
/// Frees a tap. NULL is allowed. Its streams are in no list after it.
void nc_h2_tap_free(nc_h2_tap *tap);

/// Feeds bytes that were sent or received on the socket.
void nc_h2_tap_feed(nc_h2_tap *tap, bool is_sent, nc_slice bytes);
/// Counts a record whose head OpenSSL has read.
void nc_h2_tap_count_record(nc_h2_tap *tap);
/// Adds a line of OpenSSL's key log.
void nc_h2_tap_take_keys(nc_h2_tap *tap, const struct ssl_st *tls, const char *line);
/// Returns how many frames arrived from the server since the last call.
size_t nc_h2_tap_take_count(nc_h2_tap *tap);
/// Returns true once, if the connection has failed by an HTTP/2 error: nghttp2 has reported it to the server, or will.
bool nc_h2_tap_take_failure(nc_h2_tap *tap);
/// Returns true if a frame arrived since the last call that may be a connection error, while several streams are open.
/// Only nghttp2 can decide that.
bool nc_h2_tap_take_doubt(nc_h2_tap *tap);

/// Records the number of the stream (RFC 9113, 5.1.1) when libcurl is about to submit a request on the connection.
void nc_h2_tap_open_stream(nc_h2_tap *tap, nc_h2_stream *stream);
/// Removes a stream from the list and frees its parsed response. Allowed if it is in none.
void nc_h2_stream_leave(nc_h2_stream *stream);

/// Returns true if the tap has seen everything that libcurl may have received.
bool nc_h2_tap_is_reliable(const nc_h2_tap *tap);
/// Returns true if the stream's body is complete: its END_STREAM arrived after all delivered bytes.
bool nc_h2_tap_is_whole(const nc_h2_tap *tap, const nc_h2_stream *stream, uint64_t delivered_bytes);
/// Returns true if the server has not processed the stream's request, so that any request may be resent (RFC 9113,
/// 8.7): RST_STREAM with REFUSED_STREAM, or GOAWAY with a lower last stream.
bool nc_h2_tap_is_refused(const nc_h2_tap *tap, const nc_h2_stream *stream);
/// Returns true if the connection has failed by an HTTP/2 error.
bool nc_h2_tap_has_failed(const nc_h2_tap *tap);
/// Returns true if the server has sent GOAWAY: it accepts no further request on the connection.
bool nc_h2_tap_is_leaving(const nc_h2_tap *tap);
/// Returns true if the server has sent GOAWAY with ENHANCE_YOUR_CALM (RFC 9113, 7): it is overloaded.
bool nc_h2_tap_is_told_to_calm(const nc_h2_tap *tap);

#endif
