/// The checks of all image fuzzers. A measured image decodes to exactly that size or is rejected, and the result does
/// not depend on what its room contained.
#ifndef NETIMAGES_FUZZ_IMAGE_MODEL_H
#define NETIMAGES_FUZZ_IMAGE_MODEL_H

#include "input.h"

#include <netimages.h>

/// Input: the largest width and height (two bytes each), whether EXIF is ignored, the image. `begins_with` is prepended
/// unless it is there.
int image_check(const uint8_t *data, size_t size, nc_slice begins_with);

#endif
