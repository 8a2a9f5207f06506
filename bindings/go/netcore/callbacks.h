/// Starts operations that call back into Go; `handle` is a runtime/cgo.Handle.
#ifndef EXAMPLE_CALLBACKS_H
#define EXAMPLE_CALLBACKS_H

#include <netcore.h>

/// Like nc_engine_submit(). If `wants_chunks` is true, goChunk() receives the body.
nc_status start_transfer(nc_engine *engine, const nc_request *request, bool wants_chunks, uintptr_t handle,
                         nc_transfer_id *id, nc_error *err);

/// Like nc_download_start(); goDownloaded() reports the end.
nc_status start_download(nc_engine *engine, const nc_download_options *options, uintptr_t handle, nc_download_id *id,
                         nc_error *err);

/// Like nc_client_send(); goCallDone() reports the end.
nc_status start_call(nc_client *client, const nc_request *request, const nc_call_options *options, uintptr_t handle,
                     nc_call **call, nc_error *err);

/// Like nc_socket_open(); goSocketEnd() reports the end.
nc_status open_socket(nc_socket **socket, nc_engine *engine, const nc_request *request,
                      const nc_socket_options *options, uintptr_t handle, nc_error *err);

#endif
