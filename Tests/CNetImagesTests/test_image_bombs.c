/// Small images that would need much memory or time. Each runs in another process, whose memory is asserted and whose
/// time is printed.
#include "made.h"

#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

enum { MOST_KIB = 32 << 10, LARGE = 256 << 20 };

typedef struct cost {
    nc_image_status status;
    long kib;
    double seconds;
} cost;

static double seconds_of(struct rusage *usage) {
    return (double)usage->ru_utime.tv_sec + (double)usage->ru_stime.tv_sec +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) / 1e6;
}

/// A child inherits the current memory, so memory used to create the bomb would hide its cost.
static cost cost_of(made image) {
    cost result = {NC_IMAGE_OK, 0, 0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct rusage before;
        struct rusage after;
        nc_image_plan plan;
        getrusage(RUSAGE_SELF, &before);
        free(decoded(&plan, &result.status, image, NULL));
        getrusage(RUSAGE_SELF, &after);
        result.kib = after.ru_maxrss - before.ru_maxrss;
        result.seconds = seconds_of(&after) - seconds_of(&before);
        _exit(write(ends[1], &result, sizeof result) == (ssize_t)sizeof result ? 0 : 1);
    }
    int end = 0;
    assert_int_equal(read(ends[0], &result, sizeof result), sizeof result);
    assert_int_equal(waitpid(child, &end, 0), child);
    assert_int_equal(end, 0);
    close(ends[0]);
    close(ends[1]);
    return result;
}

static void expect(const char *name, made image, nc_image_status status) {
    cost found = cost_of(image);
    print_message("%-40s %8zu bytes: %6.1f ms, %6ld KiB\n", name, image.count, found.seconds * 1000, found.kib);
    assert_int_equal(found.status, status);
    assert_true(found.kib < MOST_KIB);
    made_free(&image);
}

static void put_32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 24);
    at[1] = (uint8_t)(value >> 16);
    at[2] = (uint8_t)(value >> 8);
    at[3] = (uint8_t)value;
}

/* --- PNG --- */

static made png_of_size(uint32_t width, uint32_t height) {
    made png = made_png(19, 17, (png_kind){PNG_COLOR_TYPE_RGB, 8, false});
    put_32(png.bytes + 16, width);
    put_32(png.bytes + 20, height);
    put_32(png.bytes + 29, (uint32_t)crc32(0, png.bytes + 12, 17));
    return png;
}

/// Returns LARGE zeros, compressed.
static made packed_zeros(void) {
    uint8_t *zeros = calloc(LARGE, 1);
    uLong room = compressBound(LARGE);
    made packed = {malloc(room), 0};
    assert_true(zeros != NULL && packed.bytes != NULL);
    assert_int_equal(compress2(packed.bytes, &room, zeros, LARGE, 9), Z_OK);
    packed.count = room;
    free(zeros);
    return packed;
}

/// Returns a PNG of one pixel with a chunk of this kind: `before`, then the compressed data.
static made png_with(made packed, const char *type, const char *before, size_t before_count) {
    made plain = made_png(1, 1, (png_kind){PNG_COLOR_TYPE_GRAY, 8, false});
    size_t inner = before_count + packed.count;
    made image = {malloc(plain.count + inner + 12), plain.count + inner + 12};
    assert_non_null(image.bytes);
    // After the header.
    memcpy(image.bytes, plain.bytes, 33);
    uint8_t *at = image.bytes + 33;
    put_32(at, (uint32_t)inner);
    memcpy(at + 4, type, 4);
    memcpy(at + 8, before, before_count);
    memcpy(at + 8 + before_count, packed.bytes, packed.count);
    put_32(at + 8 + inner, (uint32_t)crc32(0, at + 4, (uInt)inner + 4));
    memcpy(at + 12 + inner, plain.bytes + 33, plain.count - 33);
    made_free(&plain);
    return image;
}

static void image__png_bombs_cost_little(void **state) {
    (void)state;
    expect("png, 50000 x 50000", png_of_size(50000, 50000), NC_IMAGE_TOO_LARGE);
    expect("png, 2^31-1 x 2^31-1", png_of_size(0x7FFFFFFF, 0x7FFFFFFF), NC_IMAGE_TOO_LARGE);
    expect("png, 2^31-1 x 1", png_of_size(0x7FFFFFFF, 1), NC_IMAGE_TOO_LARGE);
    // Within the limits, but without image data.
    expect("png, 7000 x 7000 without data", png_of_size(7000, 7000), NC_IMAGE_MALFORMED);
    made zeros = packed_zeros();
    // Ignored by the decoder.
    expect("png, 256 MiB of text (zTXt)", png_with(zeros, "zTXt", "a\0\0", 3), NC_IMAGE_OK);
    expect("png, 256 MiB of text (iTXt)", png_with(zeros, "iTXt", "a\0\1\0\0\0", 6), NC_IMAGE_OK);
    expect("png, 256 MiB of a profile (iCCP)", png_with(zeros, "iCCP", "a\0\0", 3), NC_IMAGE_OK);
    // Data after one pixel.
    expect("png, 256 MiB behind one pixel (IDAT)", png_with(zeros, "IDAT", "", 0), NC_IMAGE_MALFORMED);
    made_free(&zeros);
}

/* --- JPEG and WebP --- */

static uint8_t *find(made image, const char *mark, size_t count) {
    uint8_t *found = memmem(image.bytes, image.count, mark, count);
    assert_non_null(found);
    return found;
}

/// Repeats the last scan many times; each pass covers the whole picture.
static made jpeg_of_scans(size_t count) {
    made image = made_jpeg(64, 64, (jpeg_kind){3, true, 0});
    uint8_t *last = image.bytes;
    for (size_t i = 0; i + 1 < image.count; i++) {
        last = image.bytes[i] == 0xFF && image.bytes[i + 1] == 0xDA ? image.bytes + i : last;
    }
    size_t head = (size_t)(last - image.bytes);
    size_t scan = image.count - 2 - head;
    made bomb = {malloc(head + count * scan + 2), head + count * scan + 2};
    assert_non_null(bomb.bytes);
    memcpy(bomb.bytes, image.bytes, head);
    for (size_t i = 0; i < count; i++) {
        memcpy(bomb.bytes + head + i * scan, last, scan);
    }
    memcpy(bomb.bytes + bomb.count - 2, "\xFF\xD9", 2);
    made_free(&image);
    return bomb;
}

static void image__jpeg_bombs_cost_little(void **state) {
    (void)state;
    made baseline = made_jpeg(19, 17, (jpeg_kind){3, false, 0});
    memset(find(baseline, "\xFF\xC0", 2) + 5, 0xFF, 4);
    expect("jpeg, 65535 x 65535", baseline, NC_IMAGE_TOO_LARGE);
    made progressive = made_jpeg(19, 17, (jpeg_kind){3, true, 0});
    memset(find(progressive, "\xFF\xC2", 2) + 5, 0xFF, 4);
    expect("jpeg, 65535 x 65535, progressive", progressive, NC_IMAGE_TOO_LARGE);
    expect("jpeg, 1000 scans", jpeg_of_scans(1000), NC_IMAGE_TOO_LARGE);
    expect("jpeg, 100000 scans", jpeg_of_scans(100000), NC_IMAGE_TOO_LARGE);
}

static void image__webp_bombs_cost_little(void **state) {
    (void)state;
    made lossless = made_webp(19, 17, true);
    // 14 bits each, all set.
    memset(lossless.bytes + 21, 0xFF, 3);
    lossless.bytes[24] |= 0x0F;
    expect("webp, 16384 x 16384, lossless", lossless, NC_IMAGE_TOO_LARGE);
    made lossy = made_webp(19, 17, false);
    uint8_t *size = find(lossy, "\x9D\x01\x2A", 3) + 3;
    memcpy(size, "\xFF\x3F\xFF\x3F", 4);
    expect("webp, 16383 x 16383", lossy, NC_IMAGE_TOO_LARGE);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(image__png_bombs_cost_little),
        harness_case(image__jpeg_bombs_cost_little),
        harness_case(image__webp_bombs_cost_little),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
