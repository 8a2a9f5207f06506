#include "net/tunnel.h"

#include "net/head_line.h"
#include "net/response.h"

#include <string.h>

enum { ASKS_WHO = 407 };

static void begin(nc_transfer *transfer, nc_slice line) {
    uint16_t status = 0;
    nc_http_version version = NC_HTTP_VERSION_UNKNOWN;
    transfer->has_tunnel_status = true;
    transfer->has_tunnel_field = false;
    bool asks_who = nc_head_line_parse_status(line, &status, &version) && status == ASKS_WHO;
    nc_response_begin_head(transfer->response, asks_who ? status : 0, asks_who ? version : NC_HTTP_VERSION_UNKNOWN);
}

nc_status nc_tunnel_take_line(nc_transfer *transfer, nc_slice line) {
    if (line.length > 5 && memcmp(line.data, "HTTP/", 5) == 0) {
        begin(transfer, line);
        return NC_OK;
    }
    const uint8_t *colon = memchr(line.data, ':', line.length);
    size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
    nc_slice name = nc_slice_make(line.data, name_length);
    transfer->has_tunnel_field = transfer->has_tunnel_field || (transfer->has_tunnel_status && colon != NULL);
    // What is no field, or more than a head may have, is left out: libcurl judges, and the challenge is all that
    // counts.
    bool is_kept = nc_response_status(transfer->response) == ASKS_WHO && nc_head_line_is_name(name) &&
                   nc_response_header_count(transfer->response) < transfer->description.limits.max_head_fields;
    if (!is_kept) {
        return NC_OK;
    }
    nc_slice value = nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1));
    nc_status status = nc_response_add_field(transfer->response, name, value);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for what the proxy says");
}
