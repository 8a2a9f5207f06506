#define _GNU_SOURCE 1
#include "request.h"

#include "record.h"

#include <string.h>
#include <strings.h>

#define MAX_HEAD_BYTES ((size_t)1024 * 1024)
#define MAX_LINE_BYTES ((size_t)8 * 1024)

void nct_request_deinit(nct_request *request) {
    nct_bytes_deinit(&request->first);
    nct_bytes_deinit(&request->path);
    nct_bytes_deinit(&request->body);
    for (size_t i = 0; i < NCT_FIELD_COUNT; i++)
        nct_bytes_deinit(&request->fields[i]);
}

void nct_request_reset(nct_request *request) {
    nct_request kept = {.first = request->first, .path = request->path, .body = request->body};
    nct_bytes_reset(&kept.first);
    nct_bytes_reset(&kept.path);
    nct_bytes_reset(&kept.body);
    for (size_t i = 0; i < NCT_FIELD_COUNT; i++) {
        kept.fields[i] = request->fields[i];
        nct_bytes_reset(&kept.fields[i]);
    }
    *request = kept;
}

/// Takes bytes from the buffer, and appends them to the recorded bytes of the request up to their limit.
static bool take(nct_request *request, nct_bytes *in, size_t count) {
    size_t room = NCT_RECORD_REQUEST_BYTES - request->first.length;
    if (!nct_bytes_append(&request->first, nct_bytes_first(in), count < room ? count : room))
        return false;
    request->length += count;
    nct_bytes_drop(in, count);
    return true;
}

/* --- head --- */

static bool is_text(const char *text, size_t length, const char *expected) {
    return length == strlen(expected) && strncasecmp(text, expected, length) == 0;
}

static bool parse_number(uint64_t *out, const char *text, size_t length, unsigned base) {
    uint64_t value = 0;
    if (length == 0 || length > 16)
        return false;
    for (size_t i = 0; i < length; i++) {
        char byte = text[i];
        unsigned digit = base;
        if (byte >= '0' && byte <= '9')
            digit = (unsigned)(byte - '0');
        else if ((byte | 0x20) >= 'a' && (byte | 0x20) <= 'f')
            digit = (unsigned)((byte | 0x20) - 'a') + 10;
        if (digit >= base)
            return false;
        value = value * base + digit;
    }
    *out = value;
    return true;
}

/// Finds the path in a request target. The target is in origin form, or in the absolute form that proxies receive (RFC
/// 9112, 3.2.2).
static bool take_path(nct_request *request, const char *target, size_t length) {
    const char *scheme = memmem(target, length, "://", 3);
    if (target[0] != '/' && scheme != NULL) {
        const char *authority = scheme + 3;
        const char *slash = memchr(authority, '/', length - (size_t)(authority - target));
        if (slash == NULL)
            return nct_bytes_append_text(&request->path, "/");
        length -= (size_t)(slash - target);
        target = slash;
    }
    const char *query = memchr(target, '?', length);
    return nct_bytes_append(&request->path, target, query == NULL ? length : (size_t)(query - target));
}

static bool parse_request_line(nct_request *request, const char *line, size_t length) {
    const char *target = memchr(line, ' ', length);
    const char *version = memrchr(line, ' ', length);
    // A target contains no space (RFC 9112, 3.2).
    if (target == NULL || target == line || version - target < 2 ||
        memchr(target + 1, ' ', (size_t)(version - target - 1)) != NULL)
        return false;
    size_t version_length = length - (size_t)(version + 1 - line);
    bool is_1_0 = is_text(version + 1, version_length, "HTTP/1.0");
    if (!is_1_0 && !is_text(version + 1, version_length, "HTTP/1.1"))
        return false;
    request->is_1_0 = is_1_0;
    request->is_last = is_1_0;
    request->is_head = is_text(line, (size_t)(target - line), "HEAD");
    request->is_get = is_text(line, (size_t)(target - line), "GET");
    return take_path(request, target + 1, (size_t)(version - target - 1));
}

static nct_bytes *kept_field(nct_request *request, const char *name, size_t length) {
    static const char *const names[NCT_FIELD_COUNT] = {
        [NCT_FIELD_CONTENT_TYPE] = "Content-Type",
        [NCT_FIELD_RANGE] = "Range",
        [NCT_FIELD_IF_RANGE] = "If-Range",
        [NCT_FIELD_AUTHORIZATION] = "Authorization",
        [NCT_FIELD_PROXY_AUTHORIZATION] = "Proxy-Authorization",
        [NCT_FIELD_UPGRADE] = "Upgrade",
        [NCT_FIELD_SOCKET_KEY] = "Sec-WebSocket-Key",
    };
    for (size_t i = 0; i < NCT_FIELD_COUNT; i++)
        if (is_text(name, length, names[i]))
            return &request->fields[i];
    return NULL;
}

/// Returns true if `word` is a member of a comma-separated list.
static bool has_word(const char *list, size_t length, const char *word) {
    const char *end = list + length;
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list));
        const char *stop = comma == NULL ? end : comma;
        const char *last = stop;
        while (list < last && (*list == ' ' || *list == '\t'))
            list++;
        while (last > list && (last[-1] == ' ' || last[-1] == '\t'))
            last--;
        if (is_text(list, (size_t)(last - list), word))
            return true;
        list = stop + 1;
    }
    return false;
}

/// Parses Content-Length. Returns false if it is invalid, or differs from an earlier one (RFC 9112, 6.3).
static bool take_length(nct_request *request, const char *value, size_t length) {
    uint64_t before = request->remaining;
    bool is_second = request->phase == NCT_EXPECT_BODY;
    request->phase = NCT_EXPECT_BODY;
    return parse_number(&request->remaining, value, length, 10) && (!is_second || request->remaining == before);
}

static bool parse_field(nct_request *request, const char *line, size_t length) {
    const char *colon = memchr(line, ':', length);
    if (colon == NULL || colon == line)
        return false;
    size_t name_length = (size_t)(colon - line);
    const char *value = colon + 1;
    const char *end = line + length;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    size_t value_length = (size_t)(end - value);
    if (is_text(line, name_length, "Content-Length") && request->phase != NCT_EXPECT_CHUNK)
        return take_length(request, value, value_length);
    if (is_text(line, name_length, "Transfer-Encoding")) {
        request->phase = NCT_EXPECT_CHUNK;
        return is_text(value, value_length, "chunked");
    }
    nct_bytes *kept = kept_field(request, line, name_length);
    if (kept != NULL)
        return nct_bytes_append(kept, value, value_length);
    if (is_text(line, name_length, "Connection") && has_word(value, value_length, "close"))
        request->is_last = true;
    if (is_text(line, name_length, "Expect") && is_text(value, value_length, "100-continue"))
        request->is_waiting = true;
    return true;
}

/// Parses the lines of a head. `head` ends with the CR LF of its last line, without the empty line.
static bool parse_head(nct_request *request, const char *head, size_t length) {
    const char *end = head + length;
    request->phase = NCT_EXPECT_NOTHING;
    for (const char *line = head; line < end;) {
        const char *line_end = memmem(line, (size_t)(end - line), "\r\n", 2);
        size_t line_length = (size_t)(line_end - line);
        if (!(line == head ? parse_request_line(request, line, line_length) : parse_field(request, line, line_length)))
            return false;
        line = line_end + 2;
    }
    if (request->phase == NCT_EXPECT_BODY && request->remaining == 0)
        request->phase = NCT_EXPECT_NOTHING;
    return true;
}

nct_progress nct_request_take_head(nct_request *request, nct_bytes *in) {
    if (request->phase != NCT_EXPECT_HEAD)
        return NCT_PROGRESS_WHOLE;
    const uint8_t *first = nct_bytes_first(in);
    size_t begin = request->searched < 3 ? 0 : request->searched - 3;
    const uint8_t *end = memmem(first + begin, in->length - begin, "\r\n\r\n", 4);
    if (end == NULL) {
        request->searched = in->length;
        return in->length > MAX_HEAD_BYTES ? NCT_PROGRESS_BAD : NCT_PROGRESS_MORE;
    }
    size_t lines_length = (size_t)(end - first) + 2;
    if (!parse_head(request, (const char *)first, lines_length) || !take(request, in, lines_length + 2))
        return NCT_PROGRESS_BAD;
    return NCT_PROGRESS_WHOLE;
}

/* --- body --- */

/// Takes the available bytes, at most `remaining`. Returns NCT_PROGRESS_WHOLE if no more bytes are expected.
static nct_progress take_remaining(nct_request *request, nct_bytes *in, bool is_kept) {
    size_t count = in->length < request->remaining ? in->length : (size_t)request->remaining;
    if (is_kept && !nct_bytes_append(&request->body, nct_bytes_first(in), count))
        return NCT_PROGRESS_BAD;
    if (!take(request, in, count))
        return NCT_PROGRESS_BAD;
    request->remaining -= count;
    request->body_received += count;
    return request->remaining == 0 ? NCT_PROGRESS_WHOLE : NCT_PROGRESS_MORE;
}

/// Parses one line of chunk framing, and moves to the next phase.
static nct_progress take_line(nct_request *request, nct_bytes *in) {
    const char *line = (const char *)nct_bytes_first(in);
    const char *end = memmem(line, in->length, "\r\n", 2);
    if (end == NULL)
        return in->length > MAX_LINE_BYTES ? NCT_PROGRESS_BAD : NCT_PROGRESS_MORE;
    size_t length = (size_t)(end - line);
    if (request->phase == NCT_EXPECT_CHUNK) {
        const char *extension = memchr(line, ';', length);
        size_t digits = extension == NULL ? length : (size_t)(extension - line);
        if (!parse_number(&request->remaining, line, digits, 16))
            return NCT_PROGRESS_BAD;
        request->phase = request->remaining == 0 ? NCT_EXPECT_TRAILER : NCT_EXPECT_CHUNK_DATA;
    } else if (request->phase == NCT_EXPECT_CHUNK_END) {
        if (length != 0)
            return NCT_PROGRESS_BAD;
        request->phase = NCT_EXPECT_CHUNK;
    } else if (length == 0) {
        request->phase = NCT_EXPECT_NOTHING;
    }
    return take(request, in, length + 2) ? NCT_PROGRESS_WHOLE : NCT_PROGRESS_BAD;
}

nct_progress nct_request_take_body(nct_request *request, nct_bytes *in, bool is_kept) {
    while (request->phase != NCT_EXPECT_NOTHING) {
        bool is_data = request->phase == NCT_EXPECT_BODY || request->phase == NCT_EXPECT_CHUNK_DATA;
        nct_progress progress = is_data ? take_remaining(request, in, is_kept) : take_line(request, in);
        if (progress != NCT_PROGRESS_WHOLE)
            return progress;
        if (is_data)
            request->phase = request->phase == NCT_EXPECT_BODY ? NCT_EXPECT_NOTHING : NCT_EXPECT_CHUNK_END;
    }
    return NCT_PROGRESS_WHOLE;
}
