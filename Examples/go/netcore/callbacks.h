/// Starts operations that call back into Go; `handle` is a runtime/cgo.Handle.
#ifndef EXAMPLE_CALLBACKS_H
#define EXAMPLE_CALLBACKS_H

#include <netcore.h>

/// Like nc_engine_submit(). With `wants_chunks` the body goes to goChunk.
nc_status start_transfer(nc_engine *engine, const nc_request *request, bool wants_chunks, uintptr_t handle,
                         nc_transfer_id *id, nc_error *err);

/// Like nc_download_start().
nc_status start_download(nc_engine *engine, const nc_download_options *options, uintptr_t handle, nc_download_id *id,
                         nc_error *err);

#endif
