/// Creates test images with the encoders of other libraries.
#ifndef NETIMAGES_TEST_MADE_H
#define NETIMAGES_TEST_MADE_H

#include <harness.h>
#include <netimages.h>

/// Bytes that the caller frees with free().
typedef struct made {
    uint8_t *bytes;
    size_t count;
} made;

void made_free(made *image);

/// Returns a picture whose red grows to the right and whose green grows downwards; blue is 0 and alpha 255. It has
/// `width` * `height` * 4 bytes; free it with free().
uint8_t *made_pixels(uint32_t width, uint32_t height);

/// The format of a PNG.
typedef struct png_kind {
    /// PNG_COLOR_TYPE_*.
    int colour_type;
    int bit_depth;
    bool is_interlaced;
} png_kind;

/// Encodes made_pixels() as PNG. Grey and palette formats have its red.
made made_png(uint32_t width, uint32_t height, png_kind kind);

/// The format of a JPEG.
typedef struct jpeg_kind {
    /// 1: grey, 3: colour, 4: CMYK (as Adobe writes it).
    int components;
    bool is_progressive;
    /// The EXIF orientation; 0 writes none.
    uint8_t orientation;
} jpeg_kind;

made made_jpeg(uint32_t width, uint32_t height, jpeg_kind kind);
made made_webp(uint32_t width, uint32_t height, bool is_lossless);

/// Decodes with these options. Returns the pixels, to be freed with free(), or NULL.
uint8_t *decoded(nc_image_plan *plan, nc_image_status *status, made image, const nc_image_options *options);

/// Fails unless a pixel is near the expected value.
void assert_near(const nc_image_plan *plan, const uint8_t *pixels, uint32_t x, uint32_t y, const int wanted[4],
                 int tolerance);

#endif
