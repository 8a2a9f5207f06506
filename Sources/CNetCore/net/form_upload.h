/// A form on its way to libcurl: its reader, and the files that the worker opens for it one by one.
///
/// Confined to the loop thread, but for nc_form_upload_measure() and nc_form_upload_open(), which are the worker's
/// while nobody else touches what they do.
#ifndef NETCORE_PRIVATE_FORM_UPLOAD_H
#define NETCORE_PRIVATE_FORM_UPLOAD_H

#include <netcore/engine.h>

typedef struct nc_transfer nc_transfer;
typedef struct nc_form_upload nc_form_upload;

/// Makes the transfer's reader, and itself its body's source; NULL stays where there is no form. A form without files
/// is measured at once. NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE.
NC_NODISCARD nc_status nc_form_upload_new(nc_transfer *transfer, nc_error *err);
void nc_form_upload_free(nc_form_upload *form);

/// False without a form.
bool nc_form_upload_has_files(const nc_form_upload *form);
/// The whole body's length; NC_LENGTH_UNKNOWN.
uint64_t nc_form_upload_length(const nc_form_upload *form);
/// How far it is; count is 0 without a form.
nc_part_progress nc_form_upload_progress(const nc_form_upload *form);

/// On the worker: measures the files.
NC_NODISCARD nc_status nc_form_upload_measure(nc_form_upload *form, nc_error *err);
/// Whether a file is to be opened, which is then described for the worker.
bool nc_form_upload_wants_file(nc_form_upload *form);
/// On the worker: opens it.
void nc_form_upload_open(nc_form_upload *form);
/// Back on the loop: the reader gets it.
void nc_form_upload_opened(nc_form_upload *form);

#endif
