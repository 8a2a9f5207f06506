#if defined(NETKIT_IMAGES) || !defined(SWIFT_PACKAGE)
#include "image.h"
#include "rows.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    CHANNELS = 4,
    /// Compressed data that may follow the last row: the end of a zlib stream is short, a decompression bomb is long.
    MAX_AFTER_LAST_ROW = 64 << 10,
};

/// Everything that must survive a longjmp.
typedef struct png_work {
    const image_job *job;
    png_structp png;
    png_infop info;
    row_scaler scaler;
    uint8_t *buffer;
    size_t at;
    /// The input may be read to here when the last row is requested.
    size_t end;
    nc_image_status status;
} png_work;

static void on_error(png_structp png, png_const_charp message) {
    png_work *work = png_get_error_ptr(png);
    work->status = image_fail(work->job->err, NC_IMAGE_MALFORMED, 0, "the PNG is damaged");
    if (work->job->err != NULL) {
        snprintf(work->job->err->message, sizeof work->job->err->message, "the PNG is damaged: %s", message);
    }
    png_longjmp(png, 1);
}

/// libpng skips a damaged ancillary chunk. Without this one the picture would differ.
static void on_warning(png_structp png, png_const_charp message) {
    if (strcmp(message, "tRNS: CRC error") == 0) {
        png_error(png, message);
    }
}

static void on_read(png_structp png, png_bytep into, size_t count) {
    png_work *work = png_get_io_ptr(png);
    if (count > work->end - work->at) {
        png_error(png, work->end == work->job->input.count ? "it is incomplete" : "data follows its last row");
    }
    memcpy(into, work->job->input.data + work->at, count);
    work->at += count;
}

/// Converts every stored format to RGBA.
static void set_transforms(png_work *work) {
    png_structp png = work->png;
    png_set_scale_16(png);
    png_set_expand(png);
    png_set_gray_to_rgb(png);
    png_set_add_alpha(png, 0xFF, PNG_FILLER_AFTER);
}

static void limit_what_follows(png_work *work) {
    size_t left = work->job->input.count - work->at;
    size_t most = (size_t)work->job->stored_width * 8 + MAX_AFTER_LAST_ROW;
    work->end = work->at + (left < most ? left : most);
}

static bool allocate_buffer(png_work *work, uint64_t count) {
    if (count > work->job->max_bytes) {
        work->status = image_fail(work->job->err, NC_IMAGE_TOO_LARGE, 0,
                                  "decoding the interlaced PNG requires more bytes than the limit");
        return false;
    }
    work->buffer = calloc((size_t)count, 1);
    if (work->buffer == NULL) {
        work->status = image_fail(work->job->err, NC_IMAGE_NO_MEMORY, 0, "memory ran out");
        return false;
    }
    return true;
}

static void read_plain(png_work *work) {
    const image_job *job = work->job;
    size_t row_bytes = (size_t)job->stored_width * CHANNELS;
    if (!allocate_buffer(work, row_bytes)) {
        return;
    }
    for (uint32_t y = 0; y < job->stored_height; y++) {
        if (y + 1 == job->stored_height) {
            limit_what_follows(work);
        }
        png_read_row(work->png, work->buffer, NULL);
        rows_push(&work->scaler, work->buffer);
    }
}

/// The rows of an interlaced picture are complete only after the last of seven passes.
static void read_interlaced(png_work *work, int passes) {
    const image_job *job = work->job;
    size_t row_bytes = (size_t)job->stored_width * CHANNELS;
    if (!allocate_buffer(work, (uint64_t)row_bytes * job->stored_height)) {
        return;
    }
    for (int pass = 0; pass < passes; pass++) {
        for (uint32_t y = 0; y < job->stored_height; y++) {
            if (pass + 1 == passes && y + 1 >= job->stored_height - 1) {
                limit_what_follows(work);
            }
            png_read_row(work->png, work->buffer + row_bytes * y, NULL);
        }
    }
    for (uint32_t y = 0; y < job->stored_height; y++) {
        rows_push(&work->scaler, work->buffer + row_bytes * y);
    }
}

static void read_picture(png_work *work) {
    png_structp png = work->png;
    png_set_read_fn(png, work, on_read);
    // Texts and profiles are skipped, so they cannot inflate either.
    png_set_keep_unknown_chunks(png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_set_user_limits(png, work->job->stored_width, work->job->stored_height);
    png_read_info(png, work->info);
    set_transforms(work);
    int passes = png_set_interlace_handling(png);
    png_read_update_info(png, work->info);
    if (png_get_rowbytes(png, work->info) != (size_t)work->job->stored_width * CHANNELS) {
        png_error(png, "the length of its rows is wrong");
    }
    if (passes > 1) {
        read_interlaced(work, passes);
    } else {
        read_plain(work);
    }
}

nc_image_status png_decode(const image_job *job) {
    png_work work = {.job = job, .end = job->input.count, .status = NC_IMAGE_OK};
    work.png = png_create_read_struct(PNG_LIBPNG_VER_STRING, &work, on_error, on_warning);
    work.info = work.png == NULL ? NULL : png_create_info_struct(work.png);
    if (work.info == NULL ||
        !rows_init(&work.scaler, job->stored_width, job->stored_height, job->width, job->height, job->pixels)) {
        work.status = image_fail(job->err, NC_IMAGE_NO_MEMORY, 0, "memory ran out");
    } else if (setjmp(png_jmpbuf(work.png)) == 0) {
        read_picture(&work);
    }
    png_destroy_read_struct(&work.png, &work.info, NULL);
    rows_deinit(&work.scaler);
    free(work.buffer);
    return work.status;
}
#endif
