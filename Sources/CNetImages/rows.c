#include "rows.h"

#include <stdlib.h>
#include <string.h>

enum { CHANNELS = 4 };

bool rows_init(row_scaler *scaler, uint32_t source_width, uint32_t source_height, uint32_t width, uint32_t height,
               uint8_t *pixels) {
    *scaler = (row_scaler){
        .source_width = source_width,
        .source_height = source_height,
        .width = width,
        .height = height,
        .target = pixels,
        .end = source_height,
    };
    if (source_width == width && source_height == height) {
        return true;
    }
    scaler->line = calloc((size_t)width * CHANNELS, sizeof *scaler->line);
    scaler->sums = calloc((size_t)width * CHANNELS, sizeof *scaler->sums);
    return scaler->line != NULL && scaler->sums != NULL;
}

void rows_deinit(row_scaler *scaler) {
    free(scaler->line);
    free(scaler->sums);
    scaler->line = scaler->sums = NULL;
}

static void add_pixel(uint64_t *sums, const uint8_t *pixel, uint64_t weight) {
    uint64_t alpha = pixel[3] * weight;
    sums[0] += pixel[0] * alpha;
    sums[1] += pixel[1] * alpha;
    sums[2] += pixel[2] * alpha;
    sums[3] += alpha;
}

/// Lengths are integers: a source pixel is `width` long, a result pixel `source_width`.
static void reduce_line(row_scaler *scaler, const uint8_t *source) {
    memset(scaler->line, 0, (size_t)scaler->width * CHANNELS * sizeof *scaler->line);
    uint64_t *sums = scaler->line;
    uint64_t left_in_result = scaler->source_width;
    for (uint32_t x = 0; x < scaler->source_width; x++, source += CHANNELS) {
        uint64_t left = scaler->width;
        while (left >= left_in_result) {
            add_pixel(sums, source, left_in_result);
            left -= left_in_result;
            left_in_result = scaler->source_width;
            sums += CHANNELS;
        }
        if (left > 0) {
            add_pixel(sums, source, left);
            left_in_result -= left;
        }
    }
}

static void emit_row(row_scaler *scaler) {
    uint64_t whole = (uint64_t)scaler->source_width * scaler->source_height;
    for (uint32_t x = 0; x < scaler->width; x++) {
        const uint64_t *sums = scaler->sums + (size_t)x * CHANNELS;
        uint8_t *pixel = scaler->target + (size_t)x * CHANNELS;
        uint64_t alpha = sums[3];
        for (int i = 0; i < 3; i++) {
            pixel[i] = (uint8_t)(alpha == 0 ? 0 : (sums[i] + alpha / 2) / alpha);
        }
        pixel[3] = (uint8_t)((alpha + whole / 2) / whole);
    }
    scaler->target += (size_t)scaler->width * CHANNELS;
    memset(scaler->sums, 0, (size_t)scaler->width * CHANNELS * sizeof *scaler->sums);
}

static void add_line(row_scaler *scaler, uint64_t weight) {
    for (size_t i = 0; i < (size_t)scaler->width * CHANNELS; i++) {
        scaler->sums[i] += scaler->line[i] * weight;
    }
}

void rows_push(row_scaler *scaler, const uint8_t *source) {
    if (scaler->line == NULL) {
        memcpy(scaler->target, source, (size_t)scaler->width * CHANNELS);
        scaler->target += (size_t)scaler->width * CHANNELS;
        return;
    }
    reduce_line(scaler, source);
    uint64_t left = scaler->height;
    while (left >= scaler->end - scaler->at) {
        uint64_t weight = scaler->end - scaler->at;
        add_line(scaler, weight);
        emit_row(scaler);
        left -= weight;
        scaler->at = scaler->end;
        scaler->end += scaler->source_height;
    }
    if (left > 0) {
        add_line(scaler, left);
        scaler->at += left;
    }
}
