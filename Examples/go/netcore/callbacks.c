/* What C calls, handed on to Go: cgo exports functions without const. */
#include "callbacks.h"

#include "_cgo_export.h"

static nc_verdict head_came(void *ctx, nc_transfer_id id, const nc_response *response, bool is_last) {
    (void)id;
    (void)response;
    (void)is_last;
    return goHead((uintptr_t)ctx) ? NC_CONTINUE : NC_STOP;
}

static nc_verdict body_came(void *ctx, nc_transfer_id id, nc_slice bytes) {
    (void)id;
    return goChunk((uintptr_t)ctx, (void *)bytes.data, bytes.length) ? NC_CONTINUE : NC_STOP;
}

static void transfer_ended(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    (void)id;
    goDone((uintptr_t)ctx, nc_response_retain(response), (nc_error *)error);
}

static void download_ended(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                           const nc_error *error) {
    (void)id;
    (void)response;
    goDownloaded((uintptr_t)ctx, result->byte_count, (nc_error *)error);
}

nc_status start_transfer(nc_engine *engine, const nc_request *request, bool wants_chunks, uintptr_t handle,
                         nc_transfer_id *id, nc_error *err) {
    const nc_sink sink = {.ctx = (void *)handle, /* a number: Go's own pointers never stay in C */
                          .on_head = head_came,
                          .on_body = wants_chunks ? body_came : NULL,
                          .on_done = transfer_ended};
    return nc_engine_submit(engine, request, &sink, id, err);
}

nc_status start_download(nc_engine *engine, const nc_download_options *options, uintptr_t handle, nc_download_id *id,
                         nc_error *err) {
    const nc_download_sink sink = {.ctx = (void *)handle, .on_done = download_ended};
    return nc_download_start(engine, options, &sink, id, err);
}
