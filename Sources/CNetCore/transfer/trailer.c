#include "transfer/internal.h"

#include "base/trace.h"
#include "curl/quirks.h"
#include "http/framing.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/time_limits.h"
#include "state/transfer_state.h"

#include <string.h>

nc_status nc_head_drop_line(nc_transfer *transfer, nc_slice line, const char *part) {
    bool has_colon = memchr(line.data, ':', line.length) != NULL;
    bool has_nul = memchr(line.data, 0, line.length) != NULL;
    if (!has_colon || has_nul || transfer->request.refuses_malformed_fields || nc_framing_hides_in(line)) {
        return nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                        "a line of the %s is not a header field", part);
    }
    nc_response_hop(transfer->response)->dropped_fields++;
    transfer->hop.framing.follows_dropped_line = true;
    return NC_OK;
}

const char *nc_trailer_fault(const nc_transfer *transfer) {
    nc_slice names;
    bool is_open = transfer->hop.is_quic && !transfer->hop.framing.has_length && nc_transfer_expects_content(transfer);
    return is_open && nc_response_find_header(transfer->response, nc_slice_of("Trailer"), &names) &&
                   transfer->engine->quic_appends_trailers
               ? "over HTTP/3 this libcurl would append its trailers"
               : NULL;
}

/// RFC 9110, 6.5: trailers are separate from the head, because most fields may only be used in a head.
static nc_status take_field(nc_transfer *transfer, nc_slice line) {
    const uint8_t *colon = memchr(line.data, ':', line.length);
    if (line.length == 0 || line.data[0] == '\r' || line.data[0] == '\n') {
        return NC_OK;
    }
    size_t name_length = colon != NULL ? (size_t)(colon - line.data) : 0;
    if (++transfer->hop.head_fields > transfer->request.limits.max_head_fields) {
        return nc_transfer_record_error(
            transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
            "the response head and trailer together have more than %u fields (limits.max_head_fields)",
            transfer->request.limits.max_head_fields);
    }
    if (!nc_head_line_is_name(nc_slice_make(line.data, name_length))) {
        return nc_head_drop_line(transfer, line, "trailer");
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_TRAILER, transfer->id);
    nc_status status =
        nc_response_add_trailer(transfer->response, nc_slice_make(line.data, name_length),
                                nc_head_line_trim(nc_slice_make(colon + 1, line.length - name_length - 1)));
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, 0, "no memory for a trailer");
}

nc_status nc_head_count_line(nc_transfer *transfer, nc_slice line) {
    // Interim heads and trailers count too: an endless series of small ones is as large as one large head.
    if (line.length > transfer->request.limits.max_head_bytes - transfer->hop.head_bytes) {
        return nc_transfer_record_error(
            transfer, NC_ERR_HEAD_TOO_LARGE, CURLE_RECV_ERROR,
            "the response head is larger than the limit of %u bytes (limits.max_head_bytes)",
            transfer->request.limits.max_head_bytes);
    }
    transfer->hop.head_bytes += (uint32_t)line.length;
    return nc_head_line_has_stray_cr(line)
               ? nc_transfer_record_error(transfer, NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                                          "a CR within a line of the response")
               : NC_OK;
}

nc_status nc_trailer_take(nc_transfer *transfer, nc_slice line) {
    if (nc_quirk_is_cut_off_line(line)) {
        return NC_OK; // nc_hop_result_evaluate() reports later how the connection ended.
    }
    nc_trace_pass(&transfer->engine->trace, NC_TRACE_HEAD_LINE, transfer->id);
    nc_deadline_enter_phase(transfer, NC_PHASE_BODY);
    nc_status status = nc_head_count_line(transfer, line);
    return status == NC_OK ? take_field(transfer, line) : status;
}
