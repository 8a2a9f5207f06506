/// What all fuzzers of images check: an image that is measured is decoded to just that size or refused, and what is
/// decoded does not depend on what was in its room before.
#ifndef NETIMAGES_FUZZ_IMAGE_MODEL_H
#define NETIMAGES_FUZZ_IMAGE_MODEL_H

#include "input.h"

#include <netimages.h>

/// Input: the largest width and height (two bytes each), whether EXIF is ignored, the image. `begins_with` is put in
/// front of it unless it is there.
int image_check(const uint8_t *data, size_t size, nc_slice begins_with);

#endif
