/// An independent reader of the frames of an HTTP/2 connection over TLS.
///
/// libcurl does not report how a stream ended: see nc_quirk_hides_stream_end(). The tap gets the socket's bytes and the
/// connection's keys. It decrypts the frame heads (trust/tls_records.h) and reads them (h2_frames.h). So the engine
/// knows about END_STREAM, RST_STREAM and GOAWAY. The tap also decodes the header blocks of responses, because nghttp2
/// rejects some valid ones (h2_response.h).
///
/// The tap must decrypt one cipher block per frame head, decode each header block, and keep about 20 KiB of memory per
/// connection. Event loop thread only.
#ifndef NETCORE_PRIVATE_H2_TAP_H
#define NETCORE_PRIVATE_H2_TAP_H

#include "base/list.h"
#include "http/h2_response.h"

struct ssl_st; // OpenSSL's SSL

/// The state of one stream. A transfer owns it, and removes it from the tap's list when the hop ends.
typedef struct nc_h2_stream {
    nc_link link;
    uint32_t id;
    uint64_t data_bytes;  // of complete frames, without padding
    bool has_end;         // END_STREAM
    bool ends_with_block; // END_STREAM came with a header block: the head or the trailers
    bool is_reset;        // the server has reset it
    bool is_refused;      // nghttp2 has reset it, because the response violates a rule
    bool has_head;        // a final head, an invalid head, or DATA without a head arrived
    uint32_t reset_code;
    nc_h2_response *response; // parsed by the engine, if nghttp2 may reject it; NULL for none
} nc_h2_stream;

typedef struct nc_h2_tap nc_h2_tap;

/// Creates a tap for a connection whose handshake begins. Returns NULL if memory is exhausted. The caller frees it.
NC_NODISCARD nc_h2_tap *nc_h2_tap_new(void);
/// Frees the keys and the buffered bytes when the connection is closed. The states of the streams stay valid.
void nc_h2_tap_close(nc_h2_tap *tap);
/// Frees a tap, and removes its streams from its list. NULL is allowed.
void nc_h2_tap_free(nc_h2_tap *tap);

/// Feeds bytes that were sent or received on the socket.
void nc_h2_tap_feed(nc_h2_tap *tap, bool is_sent, nc_slice bytes);
/// Counts a TLS record of the server whose head OpenSSL has read.
void nc_h2_tap_count_record(nc_h2_tap *tap);
/// Adds a line of OpenSSL's key log.
void nc_h2_tap_take_keys(nc_h2_tap *tap, const struct ssl_st *tls, const char *line);
/// Returns how many frames arrived from the server since the last call.
size_t nc_h2_tap_take_count(nc_h2_tap *tap);
/// Returns true if the connection has failed by an HTTP/2 error since the last call. nghttp2 has reported the error to
/// the server, or is going to report it.
bool nc_h2_tap_take_failure(nc_h2_tap *tap);
/// Returns true if several streams are open, and a frame that may be a connection error arrived since the last call.
/// Only nghttp2 can decide whether the frame is one.
bool nc_h2_tap_take_recheck(nc_h2_tap *tap);

/// Adds a stream to the tap when libcurl is about to submit a request on the connection. Its number is the next odd
/// number (RFC 9113, 5.1.1).
void nc_h2_tap_open_stream(nc_h2_tap *tap, nc_h2_stream *stream);
/// Removes a stream from its list, if it is in one, and frees its parsed response.
void nc_h2_stream_leave(nc_h2_stream *stream);

/// Returns true if the tap has seen everything that libcurl may have received.
bool nc_h2_tap_is_reliable(const nc_h2_tap *tap);
/// Returns true if the stream's body is complete: END_STREAM arrived, and libcurl has delivered all bytes before it.
bool nc_h2_tap_is_whole(const nc_h2_tap *tap, const nc_h2_stream *stream, uint64_t delivered_bytes);
/// Returns true if the server has not processed the stream's request, so that any request may be resent (RFC 9113,
/// 8.7): RST_STREAM with REFUSED_STREAM, or GOAWAY with a lower last stream.
bool nc_h2_tap_is_refused(const nc_h2_tap *tap, const nc_h2_stream *stream);
/// Returns true if the connection has failed by an HTTP/2 error.
bool nc_h2_tap_has_failed(const nc_h2_tap *tap);
/// Returns true if the server has sent GOAWAY: it accepts no further request on the connection.
bool nc_h2_tap_has_goaway(const nc_h2_tap *tap);
/// Returns true if the server has sent GOAWAY with ENHANCE_YOUR_CALM (RFC 9113, 7): it is overloaded.
bool nc_h2_tap_is_enhance_your_calm(const nc_h2_tap *tap);

#endif
