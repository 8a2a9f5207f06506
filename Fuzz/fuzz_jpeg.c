/// Covers: ../CNetImages/jpeg_read.c ../CNetImages/jpeg_segments.c ../CNetImages/exif.c
///
/// A JPEG; see image_model.h.
#include "image_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return image_check(data, size, nc_slice_make((const uint8_t *)"\xFF\xD8\xFF", 3));
}
