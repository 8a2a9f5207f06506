#if defined(NETKIT_IMAGES) || !defined(SWIFT_PACKAGE)
#include "image.h"
#include "rows.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#include <jerror.h>
#include <jpeglib.h>

/// A scaled side may exceed its target by one part in MIN_PRECISION.
enum { CHANNELS = 4, EIGHTHS = 8, MIN_PRECISION = 64 };

/// Everything that must survive a longjmp.
typedef struct jpeg_work {
    struct jpeg_decompress_struct jpeg;
    struct jpeg_error_mgr errors;
    jmp_buf jump;
    const image_job *job;
    row_scaler scaler;
    uint8_t *row;
    nc_image_status status;
} jpeg_work;

/* --- errors --- */

static nc_image_status status_of(int code) {
    switch (code) {
    case JERR_OUT_OF_MEMORY:
        return NC_IMAGE_NO_MEMORY;
    // A progressive picture must buffer more than max_memory_to_use.
    case JERR_NO_BACKING_STORE:
        return NC_IMAGE_TOO_LARGE;
    default:
        return NC_IMAGE_MALFORMED;
    }
}

_Noreturn static void on_error(j_common_ptr jpeg) {
    jpeg_work *work = jpeg->client_data;
    char message[JMSG_LENGTH_MAX];
    jpeg->err->format_message(jpeg, message);
    work->status = image_fail(work->job->err, status_of(jpeg->err->msg_code), jpeg->err->msg_code, "");
    if (work->job->err != NULL) {
        snprintf(work->job->err->message, sizeof work->job->err->message, "the JPEG cannot be decoded: %.150s",
                 message);
    }
    longjmp(work->jump, 1);
}

/// libjpeg fills missing data with grey. Here that is an error, as for the other formats.
static void on_message(j_common_ptr jpeg, int level) {
    if (level >= 0) {
        return;
    }
    switch (jpeg->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
        on_error(jpeg);
    default:
        break;
    }
}

/* --- decoding --- */

/// Returns true if a side scaled by so many eighths is at least as long as wanted, and hardly longer. libjpeg rounds
/// up: seven pixels by 7/8 stay seven, and nine by 1/8 become two, one of them nearly empty.
static bool is_good_scale(uint64_t side, uint64_t eighths, uint64_t wanted) {
    uint64_t excess = (EIGHTHS - side * eighths % EIGHTHS) % EIGHTHS;
    return side * eighths >= wanted * EIGHTHS && excess * MIN_PRECISION <= side * eighths;
}

/// Chooses the smallest sufficient size that libjpeg can produce.
static void choose_scale(jpeg_work *work) {
    const image_job *job = work->job;
    struct jpeg_decompress_struct *jpeg = &work->jpeg;
    jpeg->scale_denom = EIGHTHS;
    jpeg->scale_num = 1;
    while (jpeg->scale_num < EIGHTHS && !(is_good_scale(jpeg->image_width, jpeg->scale_num, job->width) &&
                                          is_good_scale(jpeg->image_height, jpeg->scale_num, job->height))) {
        jpeg->scale_num++;
    }
}

static uint8_t by(unsigned left, unsigned right) {
    return (uint8_t)((left * right + 127) / 255);
}

/// Adobe inverts ink: 255 is none. Others do not.
static void ink_to_light(uint8_t *row, size_t pixels, bool is_inverted) {
    for (size_t i = 0; i < pixels; i++, row += CHANNELS) {
        unsigned flip = is_inverted ? 0 : 255;
        unsigned black = flip ^ row[3];
        row[0] = by(flip ^ row[0], black);
        row[1] = by(flip ^ row[1], black);
        row[2] = by(flip ^ row[2], black);
        row[3] = 255;
    }
}

static void read_rows(jpeg_work *work) {
    struct jpeg_decompress_struct *jpeg = &work->jpeg;
    const image_job *job = work->job;
    if (jpeg->output_components != CHANNELS) {
        jpeg->err->msg_code = JERR_CONVERSION_NOTIMPL;
        on_error((j_common_ptr)jpeg);
    }
    work->row = malloc((size_t)jpeg->output_width * CHANNELS);
    if (work->row == NULL ||
        !rows_init(&work->scaler, jpeg->output_width, jpeg->output_height, job->width, job->height, job->pixels)) {
        work->status = image_fail(job->err, NC_IMAGE_NO_MEMORY, 0, "memory ran out");
        return;
    }
    bool is_ink = jpeg->out_color_space == JCS_CMYK;
    while (jpeg->output_scanline < jpeg->output_height) {
        JSAMPROW row = work->row;
        if (jpeg_read_scanlines(jpeg, &row, 1) == 1) {
            if (is_ink) {
                ink_to_light(work->row, jpeg->output_width, jpeg->saw_Adobe_marker);
            }
            rows_push(&work->scaler, work->row);
        }
    }
    jpeg_finish_decompress(jpeg);
}

static void read_picture(jpeg_work *work) {
    struct jpeg_decompress_struct *jpeg = &work->jpeg;
    jpeg_create_decompress(jpeg);
    jpeg->mem->max_memory_to_use = (long)work->job->max_bytes;
    jpeg_mem_src(jpeg, work->job->input.data, (unsigned long)work->job->input.count);
    jpeg_read_header(jpeg, TRUE);
    if (jpeg->image_width != work->job->stored_width || jpeg->image_height != work->job->stored_height) {
        jpeg->err->msg_code = JERR_SOF_DUPLICATE;
        on_error((j_common_ptr)jpeg);
    }
    bool is_ink = jpeg->jpeg_color_space == JCS_CMYK || jpeg->jpeg_color_space == JCS_YCCK;
    jpeg->out_color_space = is_ink ? JCS_CMYK : JCS_EXT_RGBA;
    choose_scale(work);
    jpeg_start_decompress(jpeg);
    read_rows(work);
}

nc_image_status jpeg_decode(const image_job *job) {
    jpeg_work work = {.job = job, .status = NC_IMAGE_OK};
    work.jpeg.err = jpeg_std_error(&work.errors);
    work.errors.error_exit = on_error;
    work.errors.emit_message = on_message;
    work.jpeg.client_data = &work;
    if (setjmp(work.jump) == 0) {
        read_picture(&work);
    }
    jpeg_destroy_decompress(&work.jpeg);
    rows_deinit(&work.scaler);
    free(work.row);
    return work.status;
}
#endif
