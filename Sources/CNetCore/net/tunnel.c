#include "net/tunnel.h"

#include "net/head.h"
#include "net/head_line.h"
#include "net/metrics.h"
#include "net/response.h"

#include <curl/curl.h>
#include <string.h>

enum { ASKS_WHO = 407 };

static nc_status begin(nc_transfer *transfer, nc_slice line) {
    uint16_t status = 0;
    nc_http_version version = NC_HTTP_VERSION_UNKNOWN;
    transfer->has_tunnel_status = true;
    nc_metrics_note_tcp(transfer);
    transfer->has_tunnel_field = false;
    bool asks_who = nc_head_line_parse_status(line, &status, &version) && status == ASKS_WHO;
    nc_response_begin_head(transfer->response, asks_who ? status : 0, asks_who ? version : NC_HTTP_VERSION_UNKNOWN);
    if (asks_who && ++transfer->challenges > NC_MAX_CHALLENGES) {
        return nc_transfer_note(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                "the proxy has taken none of %d proofs", NC_MAX_CHALLENGES);
    }
    return NC_OK;
}

static nc_status take_field(nc_transfer *transfer, nc_slice line) {
    const uint8_t *colon = memchr(line.data, ':', line.length);
    size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
    nc_slice name = nc_slice_make(line.data, name_length);
    transfer->has_tunnel_field = transfer->has_tunnel_field || (transfer->has_tunnel_status && colon != NULL);
    // What is no field, or more than a head may have, is left out: libcurl judges, and the challenge is all that
    // counts.
    if (nc_response_status(transfer->response) != ASKS_WHO || !nc_head_line_is_name(name) ||
        nc_response_header_count(transfer->response) >= transfer->description.limits.max_head_fields) {
        return NC_OK;
    }
    nc_slice value = nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1));
    return nc_response_add_field(transfer->response, name, value);
}

nc_status nc_tunnel_take_line(nc_transfer *transfer, nc_slice line) {
    if (line.length > 5 && memcmp(line.data, "HTTP/", 5) == 0) {
        return begin(transfer, line);
    }
    if (nc_head_line_has_stray_cr(line)) {
        return nc_transfer_note(transfer, NC_ERR_PROXY, CURLE_WEIRD_SERVER_REPLY,
                                "a CR within a line of the proxy's head");
    }
    bool is_fold = line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    nc_status status = NC_OK;
    if (!is_fold) {
        status = take_field(transfer, line);
    } else if (nc_response_header_count(transfer->response) > 0) {
        status = nc_response_extend_field(transfer->response, nc_head_line_trim(line));
    }
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for what the proxy says");
}
