#include "websocket/reader.h"

#include "base/alloc.h"

#include <string.h>

enum { FINAL = 0x80, RSV1 = 0x40, RSV2_AND_3 = 0x30, OPCODE = 0x0f, MASKED = 0x80, LENGTH = 0x7f, CONTROL = 0x8 };

/// Decompressed bytes that are delivered together.
enum { PIECE_BYTES = 16 * 1024 };

void nc_ws_reader_deinit(nc_ws_reader *reader) {
    nc_ws_inflater_free(reader->inflater);
    nc_free(reader->piece);
    reader->inflater = NULL;
    reader->piece = NULL;
}

/* --- heads --- */

static size_t extended_bytes(uint8_t length) {
    return length == 126 ? 2 : length == 127 ? 8 : 0;
}

static uint64_t parse_length(const nc_ws_reader *reader) {
    uint8_t length = reader->head[1] & LENGTH;
    size_t count = extended_bytes(length);
    uint64_t value = count == 0 ? length : 0;
    for (size_t i = 0; i < count; i++) {
        value = value << 8 | reader->head[2 + i];
    }
    return value;
}

/// Checks the first two bytes of a frame as soon as they are there.
static nc_ws_fault check_start(const nc_ws_reader *reader) {
    uint8_t first = reader->head[0];
    uint8_t opcode = first & OPCODE;
    bool begins = opcode == NC_WS_TEXT || opcode == NC_WS_BINARY;
    if ((first & RSV2_AND_3) != 0 || ((first & RSV1) != 0 && !(begins && reader->terms.is_agreed))) {
        return NC_WS_FAULT_RESERVED_BITS;
    }
    if (!begins && opcode != NC_WS_CONTINUATION && (opcode < NC_WS_CLOSE || opcode > NC_WS_PONG)) {
        return NC_WS_FAULT_OPCODE;
    }
    if ((opcode & CONTROL) != 0 && (first & FINAL) == 0) {
        return NC_WS_FAULT_CONTROL_FRAGMENT;
    }
    if (opcode == NC_WS_CONTINUATION && !reader->is_in_message) {
        return NC_WS_FAULT_CONTINUATION;
    }
    return begins && reader->is_in_message ? NC_WS_FAULT_INTERLEAVED : NC_WS_FAULT_NONE;
}

static nc_ws_fault check_second(const nc_ws_reader *reader) {
    if ((reader->head[1] & MASKED) != 0) {
        return NC_WS_FAULT_MASKED;
    }
    bool is_control = (reader->head[0] & CONTROL) != 0;
    return is_control && (reader->head[1] & LENGTH) > NC_WS_MAX_CONTROL_BYTES ? NC_WS_FAULT_CONTROL_LENGTH
                                                                              : NC_WS_FAULT_NONE;
}

static nc_ws_fault check_length(const nc_ws_reader *reader, uint64_t length) {
    size_t count = extended_bytes(reader->head[1] & LENGTH);
    if ((count == 2 && length < 126) || (count == 8 && length <= UINT16_MAX)) {
        return NC_WS_FAULT_LENGTH_FORM;
    }
    if (length > INT64_MAX) {
        return NC_WS_FAULT_LENGTH_RANGE;
    }
    return length > reader->max_frame_bytes ? NC_WS_FAULT_FRAME_SIZE : NC_WS_FAULT_NONE;
}

static void begin_message(nc_ws_reader *reader) {
    reader->is_in_message = true;
    reader->is_text = reader->opcode == NC_WS_TEXT;
    reader->is_compressed = (reader->head[0] & RSV1) != 0;
    reader->is_begun = false;
    reader->empty_fragments = 0;
    reader->wire_bytes = 0;
    reader->message_bytes = 0;
    reader->text = (nc_utf8_check){0};
}

/// The maximum of a compressed message's payloads. Compression makes a message at most a little longer, so a message
/// that is longer has useless blocks, perhaps without end.
static uint64_t max_wire_bytes(const nc_ws_reader *reader) {
    uint64_t most = reader->max_message_bytes;
    return !reader->is_compressed || most > UINT64_MAX / 2 ? most : most + most / 8 + 1024;
}

static nc_ws_fault begin_data(nc_ws_reader *reader) {
    if (reader->opcode != NC_WS_CONTINUATION) {
        begin_message(reader);
    }
    bool is_empty = reader->left == 0 && !reader->is_final;
    reader->empty_fragments = is_empty ? reader->empty_fragments + 1 : 0;
    if (reader->empty_fragments > NC_WS_MAX_EMPTY_FRAGMENTS) {
        return NC_WS_FAULT_EMPTY_FRAGMENTS;
    }
    if (reader->left > max_wire_bytes(reader) - reader->wire_bytes) {
        return NC_WS_FAULT_MESSAGE_SIZE;
    }
    reader->wire_bytes += reader->left;
    if (!reader->is_compressed) {
        return NC_WS_FAULT_NONE;
    }
    if (reader->inflater == NULL) {
        reader->inflater = nc_ws_inflater_new(&reader->terms);
    }
    if (reader->piece == NULL) {
        reader->piece = nc_alloc(PIECE_BYTES);
    }
    return reader->inflater != NULL && reader->piece != NULL ? NC_WS_FAULT_NONE : NC_WS_FAULT_MEMORY;
}

/// Reads a frame's head. `is_in_payload` is true at its end.
static nc_ws_fault read_head(nc_ws_reader *reader, nc_slice *in) {
    nc_ws_fault fault = NC_WS_FAULT_NONE;
    while (in->length > 0 && fault == NC_WS_FAULT_NONE) {
        reader->head[reader->head_length++] = in->data[0];
        *in = nc_slice_make(in->data + 1, in->length - 1);
        if (reader->head_length == 1) {
            fault = check_start(reader);
            continue;
        }
        fault = reader->head_length == 2 ? check_second(reader) : NC_WS_FAULT_NONE;
        if (fault != NC_WS_FAULT_NONE || reader->head_length < 2 + extended_bytes(reader->head[1] & LENGTH)) {
            continue;
        }
        uint64_t length = parse_length(reader);
        fault = check_length(reader, length);
        reader->opcode = reader->head[0] & OPCODE;
        reader->is_final = (reader->head[0] & FINAL) != 0;
        reader->left = length;
        reader->is_in_payload = true;
        reader->control_length = 0;
        if (fault == NC_WS_FAULT_NONE && (reader->opcode & CONTROL) == 0) {
            fault = begin_data(reader);
        }
        reader->head_length = 0;
        break;
    }
    return fault;
}

/* --- payloads --- */

/// Parses the payload of a close frame.
static nc_ws_fault read_close(nc_ws_reader *reader, nc_ws_event *event) {
    nc_slice payload = nc_slice_make(reader->control, reader->control_length);
    *event = (nc_ws_event){.kind = NC_WS_GOT_CLOSE, .close_code = 1005};
    reader->is_closed = true;
    if (payload.length == 0) {
        return NC_WS_FAULT_NONE;
    }
    if (payload.length == 1) {
        return NC_WS_FAULT_CLOSE_LENGTH;
    }
    event->close_code = (uint16_t)(payload.data[0] << 8 | payload.data[1]);
    event->bytes = nc_slice_make(payload.data + 2, payload.length - 2);
    if (!nc_ws_close_code_is_valid(event->close_code)) {
        return NC_WS_FAULT_CLOSE_CODE;
    }
    return nc_utf8_span(event->bytes.data, event->bytes.length) == event->bytes.length ? NC_WS_FAULT_NONE
                                                                                       : NC_WS_FAULT_CLOSE_TEXT;
}

static nc_ws_fault read_control(nc_ws_reader *reader, nc_slice *in, nc_ws_event *event) {
    size_t count = in->length < reader->left ? in->length : (size_t)reader->left;
    if (count > 0) {
        memcpy(reader->control + reader->control_length, in->data, count);
        *in = nc_slice_make(in->data + count, in->length - count);
    }
    reader->control_length = (uint8_t)(reader->control_length + count);
    reader->left -= count;
    if (reader->left > 0) {
        return NC_WS_FAULT_NONE;
    }
    reader->is_in_payload = false;
    if (reader->opcode == NC_WS_CLOSE) {
        return read_close(reader, event);
    }
    *event = (nc_ws_event){
        .kind = reader->opcode == NC_WS_PING ? NC_WS_GOT_PING : NC_WS_GOT_PONG,
        .bytes = nc_slice_make(reader->control, reader->control_length),
    };
    return NC_WS_FAULT_NONE;
}

/// Delivers a piece, after the checks of its text.
static nc_ws_fault deliver(nc_ws_reader *reader, nc_slice piece, bool is_last, nc_ws_event *event) {
    if (reader->is_text && (!nc_utf8_check_piece(&reader->text, piece) || (is_last && reader->text.needed > 0))) {
        return NC_WS_FAULT_TEXT;
    }
    if (is_last) {
        reader->is_in_message = false;
        reader->is_in_payload = false;
    }
    if (piece.length > 0 || is_last) {
        *event = (nc_ws_event){.kind = NC_WS_DATA,
                               .bytes = piece,
                               .is_text = reader->is_text,
                               .is_first = !reader->is_begun,
                               .is_last = is_last};
        reader->is_begun = true;
    }
    return NC_WS_FAULT_NONE;
}

static nc_slice take(nc_slice *in, size_t count) {
    nc_slice taken = nc_slice_make(in->data, count);
    *in = nc_slice_make(count > 0 ? in->data + count : in->data, in->length - count);
    return taken;
}

static nc_ws_fault read_plain(nc_ws_reader *reader, nc_slice *in, nc_ws_event *event) {
    size_t count = in->length < reader->left ? in->length : (size_t)reader->left;
    nc_slice piece = take(in, count);
    reader->left -= count;
    reader->is_in_payload = reader->left > 0;
    return deliver(reader, piece, reader->left == 0 && reader->is_final, event);
}

/// Checks the limit and the result of the decompressor. Of several faults the first one counts, so a wrong text before
/// it is reported. Otherwise the fault would depend on how the input is split.
static nc_ws_fault check_decompressed(const nc_ws_reader *reader, nc_slice piece, nc_status status) {
    uint64_t room = reader->max_message_bytes - reader->message_bytes;
    bool is_too_long = piece.length > room;
    if (!is_too_long && status == NC_OK) {
        return NC_WS_FAULT_NONE;
    }
    nc_utf8_check text = reader->text;
    nc_slice valid = nc_slice_make(piece.data, is_too_long ? (size_t)room : piece.length);
    if (reader->is_text && !nc_utf8_check_piece(&text, valid)) {
        return NC_WS_FAULT_TEXT;
    }
    return is_too_long ? NC_WS_FAULT_MESSAGE_SIZE : NC_WS_FAULT_DEFLATE;
}

/// Decompresses one piece. At the end of the message, the removed bytes follow the payload.
static nc_ws_fault read_compressed(nc_ws_reader *reader, nc_slice *in, nc_ws_event *event) {
    size_t filled = 0;
    size_t count = in->length < reader->left ? in->length : (size_t)reader->left;
    nc_slice offered = nc_slice_make(in->data, count);
    bool is_at_end = reader->left == 0 && !reader->has_more;
    nc_status status;
    if (!is_at_end) {
        status = nc_ws_inflater_next(reader->inflater, &offered, reader->piece, PIECE_BYTES, &filled);
        (void)take(in, count - offered.length);
        reader->left -= count - offered.length;
        reader->has_more = filled == PIECE_BYTES;
        reader->is_in_payload = reader->left > 0 || reader->has_more || reader->is_final;
    } else if (reader->is_final) {
        status = nc_ws_inflater_end(reader->inflater, reader->piece, PIECE_BYTES, &filled);
    } else {
        reader->is_in_payload = false;
        return NC_WS_FAULT_NONE;
    }
    if (status == NC_ERR_NO_MEMORY) {
        return NC_WS_FAULT_MEMORY;
    }
    nc_ws_fault fault = check_decompressed(reader, nc_slice_make(reader->piece, filled), status);
    if (fault != NC_WS_FAULT_NONE) {
        return fault;
    }
    reader->message_bytes += filled;
    bool is_last = is_at_end && filled < PIECE_BYTES;
    return deliver(reader, nc_slice_make(reader->piece, filled), is_last, event);
}

/// Returns true if the frame can go on: with more input, or because it needs none.
static bool can_read(const nc_ws_reader *reader, nc_slice in) {
    return in.length > 0 || (reader->is_in_payload && (reader->left == 0 || reader->has_more));
}

nc_ws_fault nc_ws_reader_next(nc_ws_reader *reader, nc_slice *in, nc_ws_event *event) {
    *event = (nc_ws_event){.kind = NC_WS_NEEDS_MORE};
    while (reader->fault == NC_WS_FAULT_NONE && event->kind == NC_WS_NEEDS_MORE && !reader->is_closed &&
           can_read(reader, *in)) {
        if (!reader->is_in_payload) {
            reader->fault = read_head(reader, in);
        } else if ((reader->opcode & CONTROL) != 0) {
            reader->fault = read_control(reader, in, event);
        } else if (reader->is_compressed) {
            reader->fault = read_compressed(reader, in, event);
        } else {
            reader->fault = read_plain(reader, in, event);
        }
    }
    if (reader->is_closed && event->kind == NC_WS_NEEDS_MORE) {
        (void)take(in, in->length); // What follows a close frame is ignored (RFC 6455, 1.4).
    }
    return reader->fault;
}
