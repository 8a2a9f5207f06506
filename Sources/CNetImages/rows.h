/// Takes the rows of a picture from above, and leaves it in another size: each new pixel is the mean of those that it
/// covers, weighted by how much of each, and by alpha.
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
    /// Of one source row, and of the result's row so far: colours by alpha, and alpha. NULL where nothing is scaled.
    uint64_t *line;
    uint64_t *sums;
    /// How far down the sources reach, in units of 1/height of a source row.
    uint64_t at;
    /// Where the result's row ends, in the same units.
    uint64_t end;
} row_scaler;

/// False when memory ran out. The result is never larger than the source.
bool rows_init(row_scaler *scaler, uint32_t source_width, uint32_t source_height, uint32_t width, uint32_t height,
               uint8_t *pixels);
/// Takes the next row, RGBA; called source_height times.
void rows_push(row_scaler *scaler, const uint8_t *source);
void rows_deinit(row_scaler *scaler);

#endif
