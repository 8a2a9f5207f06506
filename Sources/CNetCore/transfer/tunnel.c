#include "transfer/internal.h"

#include "curl/auth_response.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "http/challenge.h"
#include "http/framing.h"
#include "request/response.h"
#include "state/transfer_state.h"

#include <curl/curl.h>
#include <string.h>

enum { IS_CHALLENGE = 407 };

static nc_status begin(nc_transfer *transfer, nc_slice line) {
    uint16_t status = 0;
    nc_http_version version = NC_HTTP_VERSION_UNKNOWN;
    transfer->hop.has_tunnel_status = true;
    nc_metrics_record_tcp(transfer);
    transfer->hop.has_tunnel_field = false;
    bool is_challenge = nc_head_line_parse_status(line, &status, &version) && status == IS_CHALLENGE;
    nc_response_begin_head(transfer->response, is_challenge ? status : 0,
                           is_challenge ? version : NC_HTTP_VERSION_UNKNOWN);
    if (is_challenge && ++transfer->hop.challenges > NC_MAX_CHALLENGES) {
        return nc_transfer_record_error(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                        "the proxy rejected the credentials after %d challenges", NC_MAX_CHALLENGES);
    }
    return NC_OK;
}

static nc_status take_field(nc_transfer *transfer, nc_slice line) {
    const uint8_t *colon = memchr(line.data, ':', line.length);
    size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
    nc_slice name = nc_slice_make(line.data, name_length);
    transfer->hop.has_tunnel_field =
        transfer->hop.has_tunnel_field || (transfer->hop.has_tunnel_status && colon != NULL);
    // Malformed fields, and those above the limits of a head, are skipped: libcurl checks the head, and only the
    // challenge matters here.
    if (nc_response_status(transfer->response) != IS_CHALLENGE || !nc_head_line_is_name(name) ||
        nc_response_header_count(transfer->response) >= transfer->request.limits.max_head_fields) {
        return NC_OK;
    }
    nc_slice value = nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1));
    return nc_response_add_field(transfer->response, name, value);
}

static bool keeps_connection(const nc_response *response) {
    static const char *const names[] = {"Connection", "Proxy-Connection"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        nc_slice value;
        if (nc_response_find_header(response, nc_slice_of(names[i]), &value) &&
            nc_challenge_offers(value, "keep-alive")) { // a list of tokens
            return true;
        }
    }
    return false;
}

/// Handles the end of the head. For a 407, computes the authorization response if libcurl cannot. libcurl resends the
/// CONNECT on the same connection, which an HTTP/1.0 proxy closes after its response (RFC 9112, 9.3).
static nc_status finish_head(nc_transfer *transfer) {
    const nc_response *response = transfer->response;
    if (nc_response_status(response) != IS_CHALLENGE || !nc_auth_can_respond(transfer)) {
        return NC_OK;
    }
    bool is_lost = nc_response_http_version(response) == NC_HTTP_VERSION_1_0 && !keeps_connection(response);
    nc_status status =
        nc_auth_response_head(transfer, NC_PARTY_PROXY, is_lost ? NC_AUTH_REASON_LOST : NC_AUTH_REASON_MISREAD);
    return status == NC_OK && transfer->hop.outcome == NC_HOP_RETRIES ? NC_ERR_STOPPED_BY_CALLER : status;
}

bool nc_tunnel_will_retry(nc_transfer *transfer, CURLcode code) {
    bool is_challenged = !transfer->hop.was_connected && transfer->hop.has_tunnel_status &&
                         transfer->hop.challenges == 1 && nc_response_status(transfer->response) == IS_CHALLENGE;
    bool is_lost = code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING ||
                   code == CURLE_COULDNT_CONNECT || code == CURLE_PARTIAL_FILE;
    return is_challenged && is_lost && transfer->error.status == NC_OK &&
           (nc_auth_own_parties(transfer) & NC_PARTY_PROXY) == 0 && nc_auth_can_respond(transfer) &&
           nc_auth_response_head(transfer, NC_PARTY_PROXY, NC_AUTH_REASON_LOST) == NC_OK &&
           transfer->hop.outcome == NC_HOP_RETRIES;
}

nc_status nc_tunnel_take_line(nc_transfer *transfer, nc_slice line) {
    if (nc_quirk_is_cut_off_line(line)) {
        return nc_transfer_record_error(transfer, NC_ERR_PROXY, CURLE_PARTIAL_FILE,
                                        "the connection closed within the proxy's response to CONNECT");
    }
    if (line.length > 5 && memcmp(line.data, "HTTP/", 5) == 0) {
        return begin(transfer, line);
    }
    if (nc_head_line_has_stray_cr(line)) {
        return nc_transfer_record_error(transfer, NC_ERR_PROXY, CURLE_WEIRD_SERVER_REPLY,
                                        "a CR within a line of the proxy's head");
    }
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return finish_head(transfer);
    }
    bool is_fold = line.length > 0 && (line.data[0] == ' ' || line.data[0] == '\t');
    nc_status status = NC_OK;
    if (!is_fold) {
        status = take_field(transfer, line);
    } else if (nc_response_header_count(transfer->response) > 0) {
        size_t last = nc_response_header_count(transfer->response) - 1;
        nc_framing_take_fold(&transfer->hop.framing, nc_response_header_at(transfer->response, last).name);
        status = nc_response_extend_field(transfer->response, nc_head_line_trim(line));
    }
    return status == NC_OK ? NC_OK
                           : nc_transfer_record_error(transfer, status, 0, "no memory for the proxy's response head");
}
