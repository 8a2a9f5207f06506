#include "http/h2_frames.h"

enum { HEAD_BYTES = 9, PRIORITY_BYTES = 5 };
enum { FLAG_END_STREAM = 1, FLAG_ACK = 1, FLAG_END_HEADERS = 4, FLAG_PADDED = 8, FLAG_PRIORITY = 0x20 };

/// SETTINGS_MAX_FRAME_SIZE is never raised: libcurl keeps the initial value (RFC 9113, 6.5.2).
enum { MAX_FRAME_BYTES = 16384 };

static uint32_t big_endian(const uint8_t *bytes, size_t count) {
    uint32_t value = 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | bytes[i];
    }
    return value;
}

nc_h2_reader nc_h2_reader_init(void) {
    return (nc_h2_reader){.need = HEAD_BYTES};
}

typedef struct frame_head {
    uint32_t length;
    uint8_t type;
    uint8_t flags;
    uint32_t stream;
} frame_head;

static frame_head head_of(const nc_h2_reader *reader) {
    const uint8_t *bytes = reader->head;
    return (frame_head){
        .length = big_endian(bytes, 3),
        .type = bytes[3],
        .flags = bytes[4],
        .stream = big_endian(bytes + 5, 4) & 0x7fffffff,
    };
}

static bool is_padded(const frame_head *head) {
    return (head->flags & FLAG_PADDED) != 0 && (head->type == NC_H2_DATA || head->type == NC_H2_HEADERS);
}

/// RFC 9113, 4.2 and 6: returns true if a frame of this type can have this length.
static bool has_valid_length(const frame_head *head) {
    uint32_t length = head->length;
    switch (head->type) {
    case NC_H2_PRIORITY: // A length other than 5 is an error of the stream, not of the connection (RFC 9113, 6.3).
        return length <= MAX_FRAME_BYTES;
    case NC_H2_RST_STREAM:
    case NC_H2_WINDOW_UPDATE:
        return length == 4;
    case NC_H2_SETTINGS:
        return length % 6 == 0 && length <= MAX_FRAME_BYTES && ((head->flags & FLAG_ACK) == 0 || length == 0);
    case NC_H2_PING:
        return length == 8;
    case NC_H2_GOAWAY:
        return length >= 8 && length <= MAX_FRAME_BYTES;
    default:
        return length <= MAX_FRAME_BYTES && length >= (is_padded(head) ? 1 : 0);
    }
}

/// RFC 9113, 6: returns true if a frame of this type may be sent on this stream. PUSH_PROMISE is never valid, because
/// libcurl has disabled server push.
static bool has_valid_stream(const frame_head *head) {
    switch (head->type) {
    case NC_H2_DATA:
    case NC_H2_HEADERS:
    case NC_H2_PRIORITY:
    case NC_H2_RST_STREAM:
    case NC_H2_CONTINUATION:
        return head->stream != 0;
    case NC_H2_SETTINGS:
    case NC_H2_PING:
    case NC_H2_GOAWAY:
        return head->stream == 0;
    case NC_H2_PUSH_PROMISE:
        return false;
    default:
        return true;
    }
}

/// RFC 9113, 6.10: no other frame may come between the frames of a header block.
static bool is_in_order(const nc_h2_reader *reader, const frame_head *head) {
    bool is_continuation = head->type == NC_H2_CONTINUATION;
    return reader->block == 0 ? !is_continuation : is_continuation && head->stream == reader->block;
}

/// Returns how many bytes at the start of the payload the reader needs.
static uint8_t wanted_bytes(const frame_head *head) {
    switch (head->type) {
    case NC_H2_RST_STREAM:
    case NC_H2_WINDOW_UPDATE:
        return 4;
    case NC_H2_GOAWAY:
        return 8;
    default:
        return is_padded(head) ? 1 : 0;
    }
}

static bool has_priority(const frame_head *head) {
    return head->type == NC_H2_HEADERS && (head->flags & FLAG_PRIORITY) != 0;
}

/// RFC 9113, 6.1 and 6.2: returns true if the padding, its length byte and the priority fit into the frame together.
static bool has_valid_padding(const nc_h2_reader *reader, const frame_head *head) {
    uint32_t before = (is_padded(head) ? 1u + reader->head[HEAD_BYTES] : 0) + (has_priority(head) ? PRIORITY_BYTES : 0);
    return before <= head->length;
}

/// Tracks a header block from its HEADERS frame to the frame with END_HEADERS.
static void follow_block(nc_h2_reader *reader, const frame_head *head) {
    if (head->type != NC_H2_HEADERS && head->type != NC_H2_CONTINUATION) {
        return;
    }
    bool is_end = (head->flags & FLAG_END_HEADERS) != 0;
    bool ends_stream = head->type == NC_H2_HEADERS ? (head->flags & FLAG_END_STREAM) != 0 : reader->block_ends;
    reader->block = is_end ? 0 : head->stream;
    reader->block_ends = ends_stream;
    reader->frame.ends_stream = is_end && ends_stream;
    reader->frame.ends_block = is_end;
}

/// Makes the frame from a complete `head`. Returns false for a connection error.
static bool take_head(nc_h2_reader *reader) {
    const frame_head head = head_of(reader);
    const uint8_t *payload = reader->head + HEAD_BYTES;
    uint32_t padding = is_padded(&head) ? 1u + payload[0] : 0;
    if (!has_valid_padding(reader, &head) ||
        (head.type == NC_H2_WINDOW_UPDATE && head.stream == 0 && (big_endian(payload, 4) & 0x7fffffff) == 0)) {
        return false;
    }
    reader->frame = (nc_h2_frame){
        .type = head.type,
        .stream = head.stream,
        .content_bytes = head.type == NC_H2_DATA ? head.length - padding : 0,
        .code = head.type == NC_H2_RST_STREAM ? big_endian(payload, 4)
                : head.type == NC_H2_GOAWAY   ? big_endian(payload + 4, 4)
                                              : 0,
        .last_stream = head.type == NC_H2_GOAWAY ? big_endian(payload, 4) & 0x7fffffff : 0,
        .increment = head.type == NC_H2_WINDOW_UPDATE ? big_endian(payload, 4) & 0x7fffffff : 0,
        .ends_stream = head.type == NC_H2_DATA && (head.flags & FLAG_END_STREAM) != 0,
    };
    follow_block(reader, &head);
    bool has_content = head.type == NC_H2_DATA || head.type == NC_H2_HEADERS || head.type == NC_H2_CONTINUATION;
    reader->skip = head.length - (uint32_t)(reader->need - HEAD_BYTES);
    reader->lead = !has_content ? reader->skip : has_priority(&head) ? PRIORITY_BYTES : 0;
    reader->tail = has_content && is_padded(&head) ? payload[0] : 0;
    reader->has_frame = true;
    return true;
}

/// Checks the 9 bytes of a frame head, and determines how many payload bytes the reader needs. Returns false for a
/// connection error.
static bool check_head(nc_h2_reader *reader) {
    const frame_head head = head_of(reader);
    if (!has_valid_length(&head) || !has_valid_stream(&head) || !is_in_order(reader, &head)) {
        return false;
    }
    reader->need = (uint8_t)(HEAD_BYTES + wanted_bytes(&head));
    return reader->need != HEAD_BYTES || take_head(reader);
}

static size_t least(size_t a, size_t b) {
    return a < b ? a : b;
}

/// Continues to read the current head. Returns false for a connection error.
static bool fill_head(nc_h2_reader *reader, const nc_h2_piece *piece, size_t *at) {
    size_t count = least((size_t)(reader->need - reader->have), piece->length - *at);
    piece->read(piece->ctx, *at, reader->head + reader->have, count);
    *at += count;
    reader->have = (uint8_t)(reader->have + count);
    if (reader->have < reader->need) {
        return true;
    }
    return reader->need == HEAD_BYTES ? check_head(reader) : take_head(reader);
}

/// Skips the payload bytes in the piece, and calls `take` for the content among them.
static void skip_payload(nc_h2_reader *reader, const nc_h2_piece *piece, size_t *at) {
    uint32_t count = (uint32_t)least(reader->skip, piece->length - *at);
    uint32_t before = (uint32_t)least(reader->lead, count);
    uint32_t content = reader->skip - before > reader->tail ? reader->skip - before - reader->tail : 0;
    content = (uint32_t)least(content, count - before);
    if (content > 0 && piece->take != NULL) {
        piece->take(piece->ctx, &reader->frame, *at + before, content);
    }
    reader->lead -= before;
    reader->skip -= count;
    *at += count;
}

bool nc_h2_reader_next(nc_h2_reader *reader, const nc_h2_piece *piece, size_t *at, nc_h2_frame *frame) {
    while (!reader->is_broken) {
        skip_payload(reader, piece, at);
        if (reader->has_frame && reader->skip == 0) {
            *frame = reader->frame;
            reader->has_frame = false;
            reader->have = 0;
            reader->need = HEAD_BYTES;
            return true;
        }
        if (*at == piece->length) {
            return false;
        }
        reader->is_broken = !fill_head(reader, piece, at);
    }
    return false;
}
