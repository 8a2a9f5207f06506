/// A second view of the frames of an HTTP/2 connection over TLS.
///
/// libcurl does not report how a stream ended: libcurl 7.88 calls most errors of a connection a success when part of a
/// body without a length has come, and every version so far calls RST_STREAM with NO_ERROR one. The tap gets the bytes
/// of the socket and the keys of the connection, decrypts the frame heads (trust/tls_records.h) and reads them
/// (h2_frames.h). So END_STREAM, RST_STREAM and GOAWAY are facts. It also decodes the header blocks of the responses,
/// because nghttp2 refuses some that are valid (h2_answer.h).
///
/// It costs one block of the cipher for each frame head, the decoding of each header block, and about 20 KiB a
/// connection. Loop-confined.
#ifndef NETCORE_PRIVATE_H2_TAP_H
#define NETCORE_PRIVATE_H2_TAP_H

#include "base/list.h"
#include "net/h2_answer.h"

struct ssl_st; // OpenSSL's SSL

/// What is known of one stream; it belongs to a transfer, which takes it out of the list when its hop ends.
typedef struct nc_h2_stream {
    nc_link link;
    uint32_t id;
    uint64_t data_bytes;  // of the frames that came whole, without padding
    bool has_end;         // END_STREAM
    bool ends_with_block; // and it came with a header block: the head's, or the trailers'
    bool is_reset;        // by the server
    bool is_refused;      // by nghttp2, because the server's answer breaks a rule
    bool has_head;        // its first header block came, other than a valid interim response
    uint32_t reset_code;
    nc_h2_answer *answer; // our own reading of what nghttp2 may refuse; NULL for none
} nc_h2_stream;

typedef struct nc_h2_tap nc_h2_tap;

/// Makes a tap for a connection whose handshake begins; NULL when memory is short. The caller frees it.
NC_NODISCARD nc_h2_tap *nc_h2_tap_new(void);
/// Forgets keys and bytes; what is known stays.
void nc_h2_tap_close(nc_h2_tap *tap);
/// Frees a tap; NULL is harmless. Its streams belong to no list after it.
void nc_h2_tap_free(nc_h2_tap *tap);

/// Bytes crossed the socket.
void nc_h2_tap_feed(nc_h2_tap *tap, bool is_sent, nc_slice bytes);
/// OpenSSL has read the head of a record.
void nc_h2_tap_count_record(nc_h2_tap *tap);
/// Takes a line of OpenSSL's key log.
void nc_h2_tap_take_keys(nc_h2_tap *tap, const struct ssl_st *tls, const char *line);
/// Returns how many frames came from the server since the last call.
size_t nc_h2_tap_take_count(nc_h2_tap *tap);
/// Returns true once, when the connection has failed by an error of HTTP/2: nghttp2 has said so to the server, or will.
bool nc_h2_tap_take_failure(nc_h2_tap *tap);
/// Returns whether a frame came since the last call that may be an error of the connection, which only nghttp2 can
/// tell, while several streams are open.
bool nc_h2_tap_take_doubt(nc_h2_tap *tap);

/// libcurl is about to submit a request on the connection: notes which stream it will be (RFC 9113, 5.1.1).
void nc_h2_tap_open_stream(nc_h2_tap *tap, nc_h2_stream *stream);
/// Takes a stream out of the list and frees its answer; harmless when it is in none.
void nc_h2_stream_leave(nc_h2_stream *stream);

/// Whether the tap has seen everything that libcurl may have received.
bool nc_h2_tap_is_reliable(const nc_h2_tap *tap);
/// Whether the stream's body is whole: its END_STREAM came, behind as many bytes as were delivered.
bool nc_h2_tap_is_whole(const nc_h2_tap *tap, const nc_h2_stream *stream, uint64_t delivered_bytes);
/// Returns whether the server has not processed the stream's request, so that it may be sent again, whatever it does
/// (RFC 9113, 8.7): RST_STREAM with REFUSED_STREAM, or GOAWAY with a lower last stream.
bool nc_h2_tap_is_refused(const nc_h2_tap *tap, const nc_h2_stream *stream);
/// Returns whether the connection has failed by an error of HTTP/2.
bool nc_h2_tap_has_failed(const nc_h2_tap *tap);
/// Returns whether the server has sent GOAWAY: it takes no further request on the connection.
bool nc_h2_tap_is_leaving(const nc_h2_tap *tap);
/// Whether the server has said GOAWAY with ENHANCE_YOUR_CALM (RFC 9113, 7): it is loaded too heavily.
bool nc_h2_tap_is_told_to_calm(const nc_h2_tap *tap);

#endif
