#include "socket.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#define KEY_LENGTH 24
#define MAX_CONTROL_BYTES 125
#define MAX_FRAME_BYTES ((uint64_t)16 * 1024 * 1024)
// No input is taken while this much output waits.
#define MAX_OUT_BYTES ((size_t)1024 * 1024)

enum { OPCODE_TEXT = 1, OPCODE_BINARY = 2, OPCODE_CLOSE = 8, OPCODE_PING = 9, OPCODE_PONG = 10 };
enum { BIT_FIN = 0x80, BIT_MASK = 0x80, BITS_RESERVED = 0x70, BITS_OPCODE = 0x0f, BITS_LENGTH = 0x7f };

/* --- frames --- */

static bool append_frame(nct_bytes *out, uint8_t first, const void *payload, size_t length) {
    uint8_t head[10] = {first};
    size_t count = length <= MAX_CONTROL_BYTES ? 0 : length <= UINT16_MAX ? 2 : 8;
    head[1] = (uint8_t)(count == 0 ? length : count == 2 ? 126 : 127);
    for (size_t i = 0; i < count; i++)
        head[2 + i] = (uint8_t)((uint64_t)length >> (8 * (count - 1 - i)));
    return nct_bytes_append(out, head, 2 + count) && nct_bytes_append(out, payload, length);
}

static bool append_close(nct_bytes *out, uint16_t code, const void *reason, size_t length) {
    uint8_t payload[MAX_CONTROL_BYTES] = {(uint8_t)(code >> 8), (uint8_t)code};
    length = length < sizeof payload - 2 ? length : sizeof payload - 2;
    if (length > 0)
        memcpy(payload + 2, reason, length);
    return append_frame(out, BIT_FIN | OPCODE_CLOSE, payload, code == 0 ? 0 : 2 + length);
}

bool nct_socket_part_init(nct_socket_part *part, const nct_socket_step *step) {
    *part = (nct_socket_part){.action = step->action};
    const void *bytes = step->bytes == NULL ? "" : step->bytes;
    switch (step->action) {
    case NCT_SOCKET_TEXT:
        return append_frame(&part->frame, BIT_FIN | OPCODE_TEXT, bytes, step->length);
    case NCT_SOCKET_BINARY:
        return append_frame(&part->frame, BIT_FIN | OPCODE_BINARY, bytes, step->length);
    case NCT_SOCKET_PING:
        return append_frame(&part->frame, BIT_FIN | OPCODE_PING, bytes, step->length);
    case NCT_SOCKET_BYTES:
        return nct_bytes_append(&part->frame, bytes, step->length);
    case NCT_SOCKET_CLOSE:
        return append_close(&part->frame, step->code, bytes, step->length);
    default:
        return true;
    }
}

/* --- the handshake --- */

bool nct_socket_is_handshake(const nct_request *request) {
    static const char upgrade[] = "websocket";
    const nct_bytes *field = &request->fields[NCT_FIELD_UPGRADE];
    return request->is_get && request->fields[NCT_FIELD_SOCKET_KEY].length == KEY_LENGTH &&
           field->length == sizeof upgrade - 1 &&
           strncasecmp((const char *)nct_bytes_first(field), upgrade, sizeof upgrade - 1) == 0;
}

bool nct_socket_append_fields(nct_bytes *out, const nct_bytes *key) {
    static const char guid[] = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
    unsigned char text[KEY_LENGTH + sizeof guid - 1];
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned char accept[EVP_MAX_MD_SIZE * 2];
    unsigned length = 0;
    memcpy(text, nct_bytes_first(key), KEY_LENGTH);
    memcpy(text + KEY_LENGTH, guid, sizeof guid - 1);
    if (EVP_Digest(text, sizeof text, digest, &length, EVP_sha1(), NULL) != 1)
        return false;
    EVP_EncodeBlock(accept, digest, (int)length);
    return nct_bytes_append_text(out, "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ") &&
           nct_bytes_append_text(out, (const char *)accept) && nct_bytes_append_text(out, "\r\n");
}

/* --- received frames --- */

typedef struct frame {
    uint8_t first;
    size_t head_length;
    uint64_t length;
} frame;

/// Parses the head of a frame. Returns false if it is incomplete.
static bool parse_head(frame *out, const nct_bytes *in) {
    const uint8_t *at = nct_bytes_first(in);
    if (in->length < 2)
        return false;
    uint8_t length = at[1] & BITS_LENGTH;
    size_t count = length == 126 ? 2 : length == 127 ? 8 : 0;
    size_t key_length = (at[1] & BIT_MASK) != 0 ? 4 : 0;
    *out = (frame){.first = at[0], .head_length = 2 + count + key_length, .length = count == 0 ? length : 0};
    if (in->length < out->head_length)
        return false;
    for (size_t i = 0; i < count; i++)
        out->length = out->length << 8 | at[2 + i];
    return true;
}

/// Returns the code of the close frame for a wrong frame, or 0 for a valid one.
static uint16_t fault_of(const frame *found, const nct_bytes *in) {
    uint8_t opcode = found->first & BITS_OPCODE;
    bool is_control = opcode >= OPCODE_CLOSE;
    if ((nct_bytes_first(in)[1] & BIT_MASK) == 0 || (found->first & BITS_RESERVED) != 0 ||
        (opcode > OPCODE_BINARY && !is_control) || opcode > OPCODE_PONG)
        return 1002;
    if (is_control && (found->length > MAX_CONTROL_BYTES || (found->first & BIT_FIN) == 0))
        return 1002;
    return found->length > MAX_FRAME_BYTES ? 1009 : 0;
}

static bool end_with(nct_socket *socket, uint16_t code) {
    socket->is_over = true;
    return socket->has_closed || append_close(&socket->out, code, "", 0);
}

/// Handles a complete frame whose payload has no mask any more.
static bool handle_frame(nct_socket *socket, uint8_t first, const uint8_t *payload, size_t length, bool is_echoing) {
    switch (first & BITS_OPCODE) {
    case OPCODE_CLOSE:
        socket->is_over = true;
        return socket->has_closed || append_frame(&socket->out, first, payload, length);
    case OPCODE_PING:
        return append_frame(&socket->out, BIT_FIN | OPCODE_PONG, payload, length);
    case OPCODE_PONG:
        return true;
    default:
        socket->has_message = socket->has_message || (first & BIT_FIN) != 0;
        return !is_echoing || append_frame(&socket->out, first, payload, length);
    }
}

/// Takes one frame. Sets `has_frame` to false if it is incomplete. Returns false if memory is exhausted.
static bool take_frame(nct_socket *socket, nct_bytes *in, bool is_echoing, bool *has_frame) {
    frame head;
    *has_frame = parse_head(&head, in);
    if (!*has_frame)
        return true;
    uint16_t fault = fault_of(&head, in);
    if (fault != 0)
        return end_with(socket, fault);
    *has_frame = in->length - head.head_length >= head.length;
    if (!*has_frame)
        return true;
    uint8_t *payload = in->data + in->start + head.head_length;
    const uint8_t *key = payload - 4;
    for (size_t i = 0; i < head.length; i++)
        payload[i] ^= key[i % 4];
    bool is_handled = handle_frame(socket, head.first, payload, (size_t)head.length, is_echoing);
    nct_bytes_drop(in, head.head_length + (size_t)head.length);
    return is_handled;
}

/* --- steps --- */

/// Performs steps until one has to wait for input.
static bool perform_steps(nct_socket *socket, const nct_socket_part *parts, size_t count) {
    for (; socket->step < count && !socket->has_closed && !socket->is_over; socket->step++) {
        const nct_socket_part *part = &parts[socket->step];
        if (part->action == NCT_SOCKET_ECHO || (part->action == NCT_SOCKET_WAIT && !socket->has_message))
            return true;
        socket->has_message = socket->has_message && part->action != NCT_SOCKET_WAIT;
        socket->has_closed = part->action == NCT_SOCKET_CLOSE;
        socket->is_reset = part->action == NCT_SOCKET_RESET;
        socket->is_over = socket->is_reset || part->action == NCT_SOCKET_END;
        if (!nct_bytes_append(&socket->out, nct_bytes_first(&part->frame), part->frame.length))
            return false;
        if (part->action == NCT_SOCKET_STALL) {
            socket->is_stalling = true;
            socket->step++;
            return true;
        }
    }
    return true;
}

bool nct_socket_advance(nct_socket *socket, const nct_socket_part *parts, size_t count, nct_bytes *in) {
    bool has_frame = true;
    while (has_frame && !socket->is_over && !socket->is_stalling && socket->out.length < MAX_OUT_BYTES) {
        if (!perform_steps(socket, parts, count))
            return false;
        if (socket->is_over || socket->is_stalling)
            break;
        bool is_echoing = socket->step < count && parts[socket->step].action == NCT_SOCKET_ECHO && !socket->has_closed;
        if (!take_frame(socket, in, is_echoing, &has_frame))
            return false;
    }
    return true;
}
