/// Scales a picture row by row: each new pixel is the mean of the pixels that it covers, weighted by area and by alpha.
#ifndef NETIMAGES_ROWS_H
#define NETIMAGES_ROWS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct row_scaler {
    uint32_t source_width;
    uint32_t source_height;
    uint32_t width;
    uint32_t height;
    /// The next row of the result.
    uint8_t *target;
    /// Sums of one source row, and of the result's current row: colours times alpha, and alpha. NULL without scaling.
    uint64_t *line;
    uint64_t *sums;
    /// Where the source rows so far end, in units of 1/height of a source row.
    uint64_t at;
    /// Where the result's current row ends, in the same units.
    uint64_t end;
} row_scaler;

/// Initializes a scaler. Returns false if memory is exhausted. The result is never larger than the source.
bool rows_init(row_scaler *scaler, uint32_t source_width, uint32_t source_height, uint32_t width, uint32_t height,
               uint8_t *pixels);
/// Adds the next row, RGBA. Called source_height times.
void rows_push(row_scaler *scaler, const uint8_t *source);
void rows_deinit(row_scaler *scaler);

#endif
