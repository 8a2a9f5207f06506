#include "http/h2_tap.h"

#include "base/alloc.h"
#include "base/list.h"
#include "http/h2_frames.h"
#include "http/h2_response.h"
#include "http/hpack.h"
#include "trust/tls_records.h"

struct nc_h2_tap {
    nc_tls_records *received; // NULL after nc_h2_tap_close(), and so is `sent`
    nc_tls_records *sent;
    bool is_lost;        // the tap is not reliable
    size_t preface_left; // bytes of the client preface that the client has not sent yet
    size_t frame_count;
    uint64_t record; // number of the current record
    nc_h2_reader server;
    nc_h2_reader client;
    int64_t window;             // bytes of DATA that the client may still send on the connection
    uint32_t last_id;           // stream number that was last given to a request
    uint32_t sent_id;           // stream number of the last request that was sent
    bool is_enhance_your_calm;  // the server sent ENHANCE_YOUR_CALM
    bool has_goaway;            // the server has sent GOAWAY
    uint32_t last_processed_id; // the lowest last stream of its GOAWAY frames
    bool has_failed;            // nghttp2 has closed the connection with an error
    bool is_failure_reported;
    bool needs_recheck;   // see nc_h2_tap_take_recheck()
    bool found_bad_block; // nghttp2 could not decode a header block, and has reported it
    nc_link streams;      // the stream of the last frame comes first
    nc_hpack *hpack;      // decoder of the server's header blocks; NULL before the first one
    bool has_lost_heads;  // a header block could not be decoded
    nc_buf block;         // the current header block
    nc_h2_head head;      // the last decoded head
};

/// RFC 9113, 6.9.
enum { INITIAL_WINDOW = 65535, MAX_WINDOW = 0x7fffffff };

/// nghttp2 accepts at most nine frames of a header block, with up to 16,384 bytes each.
enum { MAX_BLOCK_BYTES = 160 << 10 };

/* --- frames --- */

/// Finds an open stream, and moves it to the front of the list.
static nc_h2_stream *find_stream(nc_h2_tap *tap, uint32_t id) {
    for (nc_link *link = tap->streams.next; link != &tap->streams; link = link->next) {
        nc_h2_stream *stream = NC_CONTAINER_OF(link, nc_h2_stream, link);
        if (stream->id == id) {
            nc_list_remove(link);
            nc_list_insert(&tap->streams, link);
            return stream;
        }
    }
    return NULL;
}

/// RFC 9113, 5.1: a frame for a stream that was never opened is a connection error.
static bool is_idle(const nc_h2_tap *tap, const nc_h2_frame *frame) {
    bool is_streams = frame->type == NC_H2_DATA || frame->type == NC_H2_HEADERS || frame->type == NC_H2_RST_STREAM;
    return is_streams && (frame->stream > tap->sent_id || frame->stream % 2 == 0);
}

/* --- header blocks --- */

/// Frees the decoder. No further header block can be decoded without its dynamic table.
static void stop_decoding(nc_h2_tap *tap) {
    nc_hpack_free(tap->hpack);
    tap->hpack = NULL;
    tap->has_lost_heads = true;
    nc_buf_deinit(&tap->block);
    nc_h2_head_deinit(&tap->head);
}

/// Processes a head of a stream. A stream has at most one response parsed by the engine. It begins with the first head
/// that nghttp2 may reject.
static void take_head(nc_h2_stream *stream, const nc_h2_head *head, uint64_t record) {
    if (stream->response != NULL) {
        nc_h2_response_take_head(stream->response, head);
    } else if (!stream->has_head && head->quirk != NULL) {
        stream->response = nc_h2_response_new(head);
        if (stream->response != NULL) {
            stream->response->record = record;
        }
    }
    stream->has_head = stream->has_head || head->status == 0 || head->status >= 200;
}

/// Decodes a complete header block. `stream` is NULL if the tap no longer needs the stream's heads. The block must be
/// decoded even then, because it changes the dynamic table (RFC 9113, 4.3).
static void end_block(nc_h2_tap *tap, nc_h2_stream *stream) {
    if (tap->has_lost_heads) {
        return;
    }
    tap->hpack = tap->hpack != NULL ? tap->hpack : nc_hpack_new();
    if (tap->hpack == NULL || nc_h2_head_read(&tap->head, tap->hpack, nc_buf_slice(&tap->block)) != NC_OK) {
        stop_decoding(tap);
        tap->needs_recheck = true;
        return;
    }
    nc_buf_reset(&tap->block);
    if (stream != NULL) {
        take_head(stream, &tap->head, tap->record);
    }
}

static void take_block(nc_h2_tap *tap, size_t at, size_t count) {
    if (tap->has_lost_heads) {
        return;
    }
    if (nc_buf_reserve(&tap->block, count) != NC_OK) {
        stop_decoding(tap);
        return;
    }
    nc_tls_records_read(tap->received, at, tap->block.data + tap->block.length, count);
    tap->block.length += count;
}

static void take_content(void *ctx, const nc_h2_frame *frame, size_t at, size_t count) {
    nc_h2_tap *tap = ctx;
    if (frame->type != NC_H2_DATA) {
        take_block(tap, at, count);
        return;
    }
    nc_h2_stream *stream = find_stream(tap, frame->stream);
    uint8_t *content = stream != NULL && stream->response != NULL && !stream->has_end && !stream->is_reset
                           ? nc_h2_response_take_content(stream->response, count)
                           : NULL;
    if (content != NULL) {
        nc_tls_records_read(tap->received, at, content, count);
    }
}

/* --- frames --- */

static void take_server_frame(nc_h2_tap *tap, const nc_h2_frame *frame) {
    tap->frame_count++;
    if (frame->type == NC_H2_GOAWAY) {
        tap->is_enhance_your_calm = tap->is_enhance_your_calm || frame->code == NC_H2_ENHANCE_YOUR_CALM;
        tap->last_processed_id = tap->has_goaway && tap->last_processed_id < frame->last_stream ? tap->last_processed_id
                                                                                                : frame->last_stream;
        tap->has_goaway = true;
        return;
    }
    tap->window += frame->stream == 0 ? frame->increment : 0;
    if (is_idle(tap, frame) || tap->window > MAX_WINDOW) {
        tap->server.is_broken = true;
        return;
    }
    nc_h2_stream *stream = frame->stream != 0 ? find_stream(tap, frame->stream) : NULL;
    bool is_over = stream == NULL || stream->has_end || stream->is_reset;
    // The tap does not check the values of SETTINGS and frames for closed streams. They may be connection errors.
    tap->needs_recheck = tap->needs_recheck || frame->type == NC_H2_SETTINGS || (frame->stream != 0 && is_over);
    if (frame->ends_block) {
        end_block(tap, is_over ? NULL : stream);
    }
    if (is_over) {
        return;
    }
    if (stream->response != NULL && stream->response->record != tap->record) {
        stream->response->spans_records = true;
    }
    // DATA before a head is an error. No head of the stream is used after it.
    stream->has_head = stream->has_head || frame->type == NC_H2_DATA;
    stream->data_bytes += frame->content_bytes;
    stream->has_end = frame->ends_stream;
    stream->ends_with_block = frame->ends_stream && frame->type != NC_H2_DATA;
    stream->is_reset = frame->type == NC_H2_RST_STREAM;
    stream->reset_code = frame->code;
}

static void take_client_frame(nc_h2_tap *tap, const nc_h2_frame *frame) {
    tap->window -= frame->content_bytes;
    if (frame->type == NC_H2_GOAWAY) {
        tap->has_failed = tap->has_failed || frame->code != NC_H2_NO_ERROR;
        tap->found_bad_block = tap->found_bad_block || frame->code == NC_H2_COMPRESSION_ERROR;
    } else if (frame->type == NC_H2_RST_STREAM && frame->code == NC_H2_PROTOCOL_ERROR) {
        nc_h2_stream *stream = find_stream(tap, frame->stream);
        if (stream != NULL) {
            stream->is_refused = true;
        }
    } else if (frame->type == NC_H2_HEADERS && frame->stream > tap->sent_id) {
        tap->sent_id = frame->stream;
        // A number above those of nc_h2_tap_open_stream() means that streams no longer match requests.
        tap->is_lost = tap->is_lost || frame->stream > tap->last_id;
    }
}

static void read_received(void *ctx, size_t at, uint8_t *out, size_t count) {
    nc_tls_records_read(((nc_h2_tap *)ctx)->received, at, out, count);
}

static void read_sent(void *ctx, size_t at, uint8_t *out, size_t count) {
    nc_tls_records_read(((nc_h2_tap *)ctx)->sent, at, out, count);
}

static void take_received(void *ctx, nc_tls_records *records, size_t length) {
    nc_h2_tap *tap = ctx;
    const nc_h2_piece piece = {read_received, take_content, tap, length};
    (void)records;
    nc_h2_frame frame;
    size_t at = 0;
    tap->record++;
    while (nc_h2_reader_next(&tap->server, &piece, &at, &frame)) {
        take_server_frame(tap, &frame);
    }
}

static void take_sent(void *ctx, nc_tls_records *records, size_t length) {
    nc_h2_tap *tap = ctx;
    const nc_h2_piece piece = {read_sent, NULL, tap, length};
    (void)records;
    nc_h2_frame frame;
    size_t at = tap->preface_left < length ? tap->preface_left : length;
    tap->preface_left -= at;
    while (nc_h2_reader_next(&tap->client, &piece, &at, &frame)) {
        take_client_frame(tap, &frame);
    }
}

/* --- life --- */

nc_h2_tap *nc_h2_tap_new(void) {
    nc_h2_tap *tap = nc_alloc_zeroed(1, sizeof *tap);
    if (tap == NULL) {
        return NULL;
    }
    tap->server = nc_h2_reader_init();
    tap->client = nc_h2_reader_init();
    tap->preface_left = NC_H2_PREFACE_BYTES;
    tap->window = INITIAL_WINDOW;
    nc_list_init(&tap->streams);
    tap->received = nc_tls_records_new(false, take_received, tap);
    tap->sent = nc_tls_records_new(true, take_sent, tap);
    tap->block = nc_buf_init(MAX_BLOCK_BYTES);
    tap->head = nc_h2_head_init();
    if (tap->received == NULL || tap->sent == NULL) {
        nc_h2_tap_free(tap);
        return NULL;
    }
    return tap;
}

void nc_h2_tap_close(nc_h2_tap *tap) {
    tap->is_lost = !nc_h2_tap_is_reliable(tap);
    nc_tls_records_free(tap->received);
    nc_tls_records_free(tap->sent);
    tap->received = NULL;
    tap->sent = NULL;
    stop_decoding(tap);
}

void nc_h2_tap_free(nc_h2_tap *tap) {
    if (tap == NULL) {
        return;
    }
    while (nc_list_take_first(&tap->streams) != NULL) {
    }
    nc_tls_records_free(tap->received);
    nc_tls_records_free(tap->sent);
    stop_decoding(tap);
    nc_free(tap);
}

void nc_h2_tap_feed(nc_h2_tap *tap, bool is_sent, nc_slice bytes) {
    nc_tls_records *records = is_sent ? tap->sent : tap->received;
    if (records != NULL) {
        nc_tls_records_feed(records, bytes);
    }
}

void nc_h2_tap_count_record(nc_h2_tap *tap) {
    if (tap->received != NULL) {
        nc_tls_records_count(tap->received);
    }
}

void nc_h2_tap_take_keys(nc_h2_tap *tap, const struct ssl_st *tls, const char *line) {
    if (tap->received != NULL) {
        nc_tls_records_take_keys(tap->received, tls, line);
        nc_tls_records_take_keys(tap->sent, tls, line);
    }
}

size_t nc_h2_tap_take_count(nc_h2_tap *tap) {
    size_t count = tap->frame_count;
    tap->frame_count = 0;
    return count;
}

bool nc_h2_tap_take_failure(nc_h2_tap *tap) {
    bool is_new = nc_h2_tap_has_failed(tap) && !tap->is_failure_reported;
    tap->is_failure_reported = tap->is_failure_reported || is_new;
    return is_new;
}

bool nc_h2_tap_take_recheck(nc_h2_tap *tap) {
    bool needs_recheck = tap->needs_recheck && tap->streams.next != tap->streams.previous;
    tap->needs_recheck = false;
    return needs_recheck;
}

/* --- results --- */

void nc_h2_stream_leave(nc_h2_stream *stream) {
    nc_list_remove(&stream->link);
    nc_h2_response_free(stream->response);
    stream->response = NULL;
}

void nc_h2_tap_open_stream(nc_h2_tap *tap, nc_h2_stream *stream) {
    nc_h2_stream_leave(stream);
    tap->last_id += tap->last_id == 0 ? 1 : 2;
    *stream = (nc_h2_stream){.id = tap->last_id};
    nc_list_insert(&tap->streams, &stream->link);
}

bool nc_h2_tap_is_reliable(const nc_h2_tap *tap) {
    return !tap->is_lost && (tap->received == NULL || !nc_tls_records_is_lost(tap->received));
}

/// A header block with END_STREAM completes the body only if nghttp2 could decode the block.
bool nc_h2_tap_is_whole(const nc_h2_tap *tap, const nc_h2_stream *stream, uint64_t delivered_bytes) {
    return nc_h2_tap_is_reliable(tap) && stream->has_end && stream->data_bytes == delivered_bytes &&
           !(stream->ends_with_block && tap->found_bad_block);
}

bool nc_h2_tap_is_refused(const nc_h2_tap *tap, const nc_h2_stream *stream) {
    bool has_response = stream->has_head || stream->has_end || stream->data_bytes > 0;
    bool is_reset = stream->is_reset && stream->reset_code == NC_H2_REFUSED_STREAM;
    bool is_above_goaway = tap->has_goaway && stream->id > tap->last_processed_id;
    return nc_h2_tap_is_reliable(tap) && !has_response && (is_reset || is_above_goaway);
}

bool nc_h2_tap_has_failed(const nc_h2_tap *tap) {
    return tap->has_failed || tap->server.is_broken;
}

bool nc_h2_tap_has_goaway(const nc_h2_tap *tap) {
    return tap->has_goaway;
}

bool nc_h2_tap_is_enhance_your_calm(const nc_h2_tap *tap) {
    return tap->is_enhance_your_calm;
}
