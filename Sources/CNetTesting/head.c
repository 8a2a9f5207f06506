#include "head.h"

#include <inttypes.h>
#include <stdio.h>

static const char *reason_of(unsigned status) {
    static const struct {
        unsigned status;
        const char *reason;
    } reasons[] = {
        {100, "Continue"},
        {101, "Switching Protocols"},
        {103, "Early Hints"},
        {200, "OK"},
        {201, "Created"},
        {202, "Accepted"},
        {204, "No Content"},
        {206, "Partial Content"},
        {301, "Moved Permanently"},
        {302, "Found"},
        {303, "See Other"},
        {304, "Not Modified"},
        {307, "Temporary Redirect"},
        {308, "Permanent Redirect"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {407, "Proxy Authentication Required"},
        {409, "Conflict"},
        {412, "Precondition Failed"},
        {413, "Content Too Large"},
        {416, "Range Not Satisfiable"},
        {417, "Expectation Failed"},
        {422, "Unprocessable Content"},
        {426, "Upgrade Required"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {502, "Bad Gateway"},
        {503, "Service Unavailable"},
        {504, "Gateway Timeout"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof reasons[0]; i++)
        if (reasons[i].status == status)
            return reasons[i].reason;
    return "Scripted";
}

static bool append_range(nct_bytes *out, const nct_head_facts *facts) {
    char line[128];
    line[0] = '\0';
    const nct_range *range = &facts->range;
    if (range->kind == NCT_RANGE_PART)
        snprintf(line, sizeof line, "Content-Range: bytes %" PRIu64 "-%" PRIu64 "/%" PRIu64 "\r\n", range->first,
                 range->first + range->length - 1, facts->body_length);
    if (range->kind == NCT_RANGE_UNSATISFIABLE)
        snprintf(line, sizeof line, "Content-Range: bytes */%" PRIu64 "\r\n", facts->body_length);
    return nct_bytes_append_text(out, line);
}

/// Appends Content-Length or Transfer-Encoding, depending on the script, and the empty line.
static bool append_framing(nct_bytes *out, const nct_script *script, uint64_t body_length) {
    char line[64];
    line[0] = '\0';
    if (script->is_framed || script->is_bodiless)
        return nct_bytes_append_text(out, "\r\n");
    if (script->chunk_bytes != 0)
        snprintf(line, sizeof line, "Transfer-Encoding: chunked\r\n\r\n");
    else
        snprintf(line, sizeof line, "Content-Length: %" PRIu64 "\r\n\r\n", body_length);
    return nct_bytes_append_text(out, line);
}

bool nct_head_append(nct_bytes *out, const nct_script *script, const nct_head_facts *facts) {
    static const unsigned statuses[] = {[NCT_RANGE_PART] = 206, [NCT_RANGE_UNSATISFIABLE] = 416};
    if (!nct_bytes_append(out, nct_bytes_first(&script->interim), script->interim.length))
        return false;
    if (script->endless == NCT_ENDLESS_CONTINUE)
        return true;
    unsigned status = facts->range.kind == NCT_RANGE_WHOLE ? script->status : statuses[facts->range.kind];
    char line[64];
    snprintf(line, sizeof line, "HTTP/1.1 %u %s", status, reason_of(status));
    if (!nct_bytes_append_text(out, line) || script->endless == NCT_ENDLESS_REASON)
        return script->endless == NCT_ENDLESS_REASON;
    if (!nct_bytes_append_text(out, "\r\n") ||
        (facts->socket_key != NULL && !nct_socket_append_fields(out, facts->socket_key)) ||
        !nct_bytes_append_text(out, (const char *)nct_bytes_first(&script->lines)))
        return false;
    if (script->endless == NCT_ENDLESS_LINE)
        return nct_bytes_append_text(out, "X-Endless: ");
    if (script->endless == NCT_ENDLESS_FIELDS)
        return true;
    if (facts->content_type_length != 0 &&
        !(nct_bytes_append_text(out, "Content-Type: ") &&
          nct_bytes_append(out, facts->content_type, facts->content_type_length) && nct_bytes_append_text(out, "\r\n")))
        return false;
    if (facts->announces_close && !nct_bytes_append_text(out, "Connection: close\r\n"))
        return false;
    return append_range(out, facts) && append_framing(out, script, facts->range.length);
}
