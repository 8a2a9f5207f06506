/// The upload of a form: its reader, and its files, which the worker thread opens one by one.
///
/// Event loop thread only, except nc_form_upload_measure() and nc_form_upload_open(), which run on the worker thread
/// while no other thread uses their data.
#ifndef NETCORE_PRIVATE_FORM_UPLOAD_H
#define NETCORE_PRIVATE_FORM_UPLOAD_H

#include <netcore/engine.h>

typedef struct nc_transfer nc_transfer;
typedef struct nc_form_upload nc_form_upload;

/// Creates the transfer's form reader and makes it the body's source; it stays NULL without a form. A form without
/// files is measured immediately. Returns NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_form_upload_new(nc_transfer *transfer, nc_error *err);
void nc_form_upload_free(nc_form_upload *form);

/// Returns true if the form has files; false without a form.
bool nc_form_upload_has_files(const nc_form_upload *form);
/// Returns the length of the whole body, or NC_LENGTH_UNKNOWN.
uint64_t nc_form_upload_length(const nc_form_upload *form);
/// Returns the progress; count is 0 without a form.
nc_part_progress nc_form_upload_progress(const nc_form_upload *form);

/// Measures the files, on the worker thread.
NC_NODISCARD nc_status nc_form_upload_measure(nc_form_upload *form, nc_error *err);
/// Returns true if a file must be opened; it is then described for the worker thread.
bool nc_form_upload_wants_file(nc_form_upload *form);
/// Opens the file, on the worker thread.
void nc_form_upload_open(nc_form_upload *form);
/// Passes the file to the reader, on the event loop.
void nc_form_upload_opened(nc_form_upload *form);

#endif
