/// Images as other programs write them, made when they are needed.
#ifndef NETIMAGES_TEST_MADE_H
#define NETIMAGES_TEST_MADE_H

#include <harness.h>
#include <netimages.h>

/// Bytes that free() takes.
typedef struct made {
    uint8_t *bytes;
    size_t count;
} made;

void made_free(made *image);

/// A picture whose red grows to the right and whose green grows downwards; blue is 0 and alpha 255. `width` * `height`
/// * 4 bytes that free() takes.
uint8_t *made_pixels(uint32_t width, uint32_t height);

/// How a PNG is written.
typedef struct png_kind {
    /// PNG_COLOR_TYPE_*.
    int colour_type;
    int bit_depth;
    bool is_interlaced;
} png_kind;

/// A PNG of a picture of made_pixels(); grey and palettes show its red.
made made_png(uint32_t width, uint32_t height, png_kind kind);

/// How a JPEG is written.
typedef struct jpeg_kind {
    /// 1 grey, 3 colours, 4 inks (as Adobe writes them).
    int components;
    bool is_progressive;
    /// EXIF's; 0 writes none.
    uint8_t orientation;
} jpeg_kind;

made made_jpeg(uint32_t width, uint32_t height, jpeg_kind kind);
made made_webp(uint32_t width, uint32_t height, bool is_lossless);

/// Decodes with these options; the pixels, which free() takes, or NULL.
uint8_t *decoded(nc_image_plan *plan, nc_image_status *status, made image, const nc_image_options *options);

/// Fails unless a pixel is near what it should be.
void assert_near(const nc_image_plan *plan, const uint8_t *pixels, uint32_t x, uint32_t y, const int wanted[4],
                 int tolerance);

#endif
