#include "transfer/internal.h"

#include "base/alloc.h"
#include "base/error.h"
#include "body/multipart.h"
#include "state/transfer_state.h"
#include "transfer/transfer.h"

struct nc_form_upload {
    nc_multipart_reader *reader;
    nc_part_open_task opening;
};

/// Copies the form's error to the transfer.
static void record_error(nc_transfer *transfer) {
    nc_error err;
    (void)nc_multipart_reader_error(transfer->form->reader, &err);
    (void)nc_transfer_record_error(transfer, err.status, err.native_code, "%s", err.message);
}

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    nc_transfer *transfer = ctx;
    nc_pull pulled = nc_multipart_read(transfer->form->reader, id, bytes, capacity, filled);
    if (pulled == NC_PULL_FAIL) {
        record_error(transfer);
    }
    return pulled;
}

static bool seek_form(void *ctx, nc_transfer_id id, uint64_t offset) {
    nc_transfer *transfer = ctx;
    bool is_rewound = offset == 0 && nc_multipart_rewind(transfer->form->reader, id);
    if (!is_rewound && offset == 0) {
        record_error(transfer);
    }
    return is_rewound;
}

nc_status nc_form_upload_new(nc_transfer *transfer, nc_error *err) {
    nc_multipart *multipart = transfer->request.multipart;
    if (multipart == NULL) {
        return NC_OK;
    }
    nc_form_upload *form = nc_alloc_zeroed(1, sizeof *form);
    if (form == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a request with a form");
    }
    nc_status status = nc_multipart_reader_make(&form->reader, multipart, err);
    if (status == NC_OK && !multipart->has_files) {
        status = nc_multipart_reader_measure(form->reader, err);
    }
    if (status != NC_OK) {
        nc_form_upload_free(form);
        return status;
    }
    form->reader->opens_files_async = true;
    transfer->form = form;
    transfer->request.source = (nc_body_source){transfer, pull, seek_form};
    transfer->upload.length = form->reader->length;
    return NC_OK;
}

void nc_form_upload_free(nc_form_upload *form) {
    if (form != NULL) {
        nc_multipart_reader_free(form->reader);
        nc_free(form);
    }
}

bool nc_form_upload_has_files(const nc_form_upload *form) {
    return form != NULL && form->reader->form->has_files;
}

uint64_t nc_form_upload_length(const nc_form_upload *form) {
    return form->reader->length;
}

nc_part_progress nc_form_upload_progress(const nc_form_upload *form) {
    return form != NULL ? nc_multipart_reader_progress(form->reader) : (nc_part_progress){0};
}

nc_status nc_form_upload_measure(nc_form_upload *form, nc_error *err) {
    return nc_multipart_reader_measure(form->reader, err);
}

bool nc_form_upload_wants_file(nc_form_upload *form) {
    return nc_multipart_reader_needs_file(form->reader, &form->opening);
}

void nc_form_upload_open(nc_form_upload *form) {
    nc_part_open_task_run(&form->opening);
}

void nc_form_upload_opened(nc_form_upload *form) {
    nc_multipart_reader_set_file(form->reader, &form->opening);
}
