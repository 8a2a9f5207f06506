/// The stages of a transfer that only this folder uses: its head, its upload, its checks.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_TRANSFER_INTERNAL_H
#define NETCORE_PRIVATE_TRANSFER_INTERNAL_H

#include "request/response.h"
#include "state/body_record.h"
#include "state/transfer_record.h"

#include <curl/curl.h>
#include <netcore/engine.h>
#include <stdbool.h>

/* --- exclusive_connection.c: which transfers need an exclusive connection, and why --- */

/// Returns true if the hop could share an HTTP/2 connection, but should not.
bool nc_conn_exclusive_is_better(const nc_transfer *transfer);
/// Returns true if the hop cannot be multiplexed although its host may support HTTP/2. It then must not use a
/// connection of other requests.
bool nc_conn_exclusive_is_only_choice(const nc_transfer *transfer);

/* --- response_head.c: response heads, line by line as libcurl delivers them --- */

/// Processes one line. Returns NC_OK, or the error that it recorded in the transfer.
NC_NODISCARD nc_status nc_response_head_take_line(nc_transfer *transfer, nc_slice line);

/// Returns true if the next bytes of the body callback belong to a challenge that was held back. libcurl has then not
/// responded to the challenge. Otherwise the bytes are a line of the next head.
bool nc_response_head_is_followed_by_body(const nc_transfer *transfer);
/// Accepts the held challenge as the final head. Returns NC_OK, or the error that it recorded in the transfer.
NC_NODISCARD nc_status nc_response_head_accept_challenge(nc_transfer *transfer);

/* --- trailer.c: trailer fields, and the limits and form of each line of heads and trailers --- */

/// Processes a trailer line. Returns NC_OK, or the recorded error.
NC_NODISCARD nc_status nc_trailer_take(nc_transfer *transfer, nc_slice line);

/// Returns the reason why the body and the trailers of a response cannot be separated; NULL if they can.
const char *nc_trailer_fault(const nc_transfer *transfer);
/// Counts a line of a head or trailer. Returns NC_OK, or the recorded error.
NC_NODISCARD nc_status nc_head_count_line(nc_transfer *transfer, nc_slice line);
/// Drops and counts a malformed line, because many servers send one. Records an error instead if the line has no colon
/// or has a NUL, or if the request refuses malformed fields. Also does so if another recipient could read the line as
/// Content-Length or Transfer-Encoding. `part` names the part of the response.
NC_NODISCARD nc_status nc_head_drop_line(nc_transfer *transfer, nc_slice line, const char *part);

/* --- tunnel.c: a proxy's response to CONNECT, line by line as libcurl delivers it --- */

/// Processes one line that arrived before the connection was ready for the request. Returns NC_OK, or the error that it
/// recorded in the transfer.
///
/// The head of a 407 is stored in the transfer's response, which the caller gets if the hop fails. Other heads of a
/// proxy are not stored, because they do not respond to the request.
NC_NODISCARD nc_status nc_tunnel_take_line(nc_transfer *transfer, nc_slice line);
/// Returns true if the connection ended without a response to the credentials that followed a 407. The hop then begins
/// again with them (`NC_HOP_RETRIES`), once.
bool nc_tunnel_will_retry(nc_transfer *transfer, CURLcode code);

/* --- h2_refused_response.c: a valid response that nghttp2 has rejected --- */

// It is delivered as the engine parsed it (h2_response.h), while the hop has its handle. Only bytes that libcurl's TLS
// has received and verified are delivered, and only a complete response: without content, or with content that arrived
// together with its head. A longer body is reset.

/// Returns true if the hop has ended because of such a response, and the response can be delivered.
NC_NODISCARD bool nc_h2_refused_is_readable(const nc_transfer *transfer);
/// Delivers the response's heads. nc_body_pipeline_end() delivers the body later. Returns the CURLcode that the hop
/// ends with: CURLE_OK or CURLE_WRITE_ERROR.
NC_NODISCARD CURLcode nc_h2_refused_deliver(nc_transfer *transfer);
/// Returns why nghttp2 has rejected the hop's valid response, or NULL if it has not.
const char *nc_h2_refused_quirk(const nc_transfer *transfer);

/* --- upload.c: the source of the request body: memory, a file, or a callback that is called piece by piece --- */

/// Reads the next piece, for CURLOPT_READFUNCTION. Returns a number of bytes, CURL_READFUNC_PAUSE or
/// CURL_READFUNC_ABORT.
size_t nc_upload_read(nc_transfer *transfer, uint8_t *bytes, size_t capacity);
/// Seeks to a byte of the body that is sent. Returns false, and records an error, if that is impossible.
bool nc_upload_seek(nc_transfer *transfer, uint64_t offset);
/// Prepares for a hop: seeks to the first byte. Returns false if that is impossible.
bool nc_upload_begin_hop(nc_transfer *transfer);

/* --- form_upload.c: the reader of a form, and its files, which the worker thread opens one by one --- */

// nc_form_upload_measure() and nc_form_upload_open() run on the worker thread, while no other thread uses their data.

typedef struct nc_transfer nc_transfer;
typedef struct nc_form_upload nc_form_upload;

/// Creates the reader of the transfer's form and makes it the source of the body. Without a form, transfer->form stays
/// NULL. If the form has no files, its length is computed immediately. Returns NC_OK, NC_ERR_NO_MEMORY,
/// NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_form_upload_new(nc_transfer *transfer, nc_error *err);
void nc_form_upload_free(nc_form_upload *form);

/// Returns true if the form has files; false without a form.
bool nc_form_upload_has_files(const nc_form_upload *form);
/// Returns the length of the whole body, or NC_LENGTH_UNKNOWN.
uint64_t nc_form_upload_length(const nc_form_upload *form);
/// Returns the progress; count is 0 without a form.
nc_part_progress nc_form_upload_progress(const nc_form_upload *form);

/// Computes the length of the body from the sizes of its files, on the worker thread.
NC_NODISCARD nc_status nc_form_upload_measure(nc_form_upload *form, nc_error *err);
/// Returns true if the reader needs its next file. The file is then recorded for nc_form_upload_open().
bool nc_form_upload_wants_file(nc_form_upload *form);
/// Opens the recorded file, on the worker thread.
void nc_form_upload_open(nc_form_upload *form);
/// Passes the opened file, or the error, to the reader, on the event loop.
void nc_form_upload_opened(nc_form_upload *form);

/* --- request_trailers.c: the trailers of a request --- */

/// Prepares the trailers, after the whole body was read. Returns 0 if they are ready, CURL_READFUNC_PAUSE if the
/// callback has no value yet, CURL_READFUNC_ABORT if an error was recorded.
size_t nc_request_trailers_prepare(nc_transfer *transfer);
/// Forgets the prepared trailers, because the body is sent again.
void nc_request_trailers_reset(nc_transfer *transfer);

/// Passes the prepared trailers to libcurl, for CURLOPT_TRAILERFUNCTION. `data` is an nc_easy_handle.
int nc_request_trailers_on_end(struct curl_slist **list, void *data);

/* --- json_check.c: validates a response's body while it arrives, if JSON is expected --- */

/// Decides, after the final head, if the body is checked. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_json_check_begin(nc_transfer *transfer);
/// Returns true if the body may be saved to a file: either no JSON is expected, or the expectation covers the
/// response's status and type.
NC_NODISCARD bool nc_json_check_allows_saving(const nc_transfer *transfer);
/// Checks decoded bytes of the body. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_json_check_feed(nc_transfer *transfer, nc_slice bytes);
/// Ends the check. Records an error if the body is not valid, unless the transfer already has an error.
void nc_json_check_end(nc_transfer *transfer);

/* --- progress.c: progress reports, at most ten per second --- */

/// Reports the progress, if the last report was at least 100 ms ago. `is_last` is true at the end of a hop, which is
/// always reported.
void nc_progress_record(nc_transfer *transfer, bool is_last);

/* --- libcurl_callbacks.c: libcurl's callbacks; `data` is the nc_easy_handle, or the engine if a socket is closed ---
 */

size_t nc_callbacks_on_header(char *bytes, size_t one, size_t length, void *data);
size_t nc_callbacks_on_body(char *bytes, size_t one, size_t length, void *data);
size_t nc_callbacks_on_upload(char *bytes, size_t one, size_t capacity, void *data);
int nc_callbacks_on_seek(void *data, curl_off_t offset, int origin);
/// Called after nc_easy_handle_watch_excess().
int nc_callbacks_on_debug(CURL *easy, curl_infotype type, char *bytes, size_t length, void *data);
/// Called if the proxy's schemes may need several requests (nc_auth_options_has_rounds()), and after
/// nc_easy_handle_watch_progress().
int nc_callbacks_on_progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent);
int nc_callbacks_on_connected(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port);
curl_socket_t nc_callbacks_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address);
int nc_callbacks_close_socket(void *data, curl_socket_t fd);

#endif
