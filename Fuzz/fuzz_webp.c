/// Covers: ../CNetImages/webp_read.c
///
/// A WebP; see image_model.h.
#include "image_model.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return image_check(data, size, nc_slice_of(""));
}
