/// Recognizes images by their first bytes, and decodes PNG, JPEG and WebP to RGBA, with libpng, libjpeg-turbo and
/// libwebp.
///
/// Sizes are checked before anything is decoded or allocated, so an image with a huge declared size costs nothing.
/// Truncated or damaged images are rejected, never shown in part. Colour profiles and gamma are ignored.
///
///     nc_image_plan plan;
///     if (nc_image_measure(&plan, bytes, count, NULL, &err) == NC_IMAGE_OK) {
///         size_t room = (size_t)plan.width * plan.height * 4;
///         status = nc_image_decode(pixels, room, bytes, count, NULL, &err);
///     }
#ifndef NETIMAGES_H
#define NETIMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__clang__)
#define NC_IMAGE_ENUM(name) enum __attribute__((enum_extensibility(open))) name
#define NC_IMAGE_NULLABLE _Nullable
#define NC_IMAGE_BEGIN                                                                                                 \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                   \
        _Pragma("clang assume_nonnull begin")
#define NC_IMAGE_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
#else
#define NC_IMAGE_ENUM(name) enum name
#define NC_IMAGE_NULLABLE
#define NC_IMAGE_BEGIN
#define NC_IMAGE_END
#endif
NC_IMAGE_BEGIN

/// The result of a call.
typedef NC_IMAGE_ENUM(nc_image_status){
    /// Success.
    NC_IMAGE_OK = 0,
    /// An argument is missing or out of range.
    NC_IMAGE_USAGE = 1,
    /// Memory is exhausted.
    NC_IMAGE_NO_MEMORY = 2,
    /// The bytes are not an image, or a damaged one.
    NC_IMAGE_MALFORMED = 3,
    /// The image is larger than a limit.
    NC_IMAGE_TOO_LARGE = 4,
    /// The format is recognized but not decoded.
    NC_IMAGE_UNSUPPORTED = 5,
    /// The system does not report memory pressure.
    NC_IMAGE_NO_PRESSURE = 6,
} nc_image_status;

/// Details of a failure, in the caller's storage.
typedef struct nc_image_error {
    /// The value that the call returned.
    nc_image_status status;
    /// The error number of the decoder library, or an errno; 0 if there is none.
    int32_t native_code;
    /// One line, lower-case start, no trailing period.
    char message[200];
} nc_image_error;

/// The format of an image.
typedef NC_IMAGE_ENUM(nc_image_format){
    /// Unknown.
    NC_IMAGE_UNKNOWN = 0,
    /// PNG (ISO/IEC 15948); decoded.
    NC_IMAGE_PNG = 1,
    /// JPEG (ITU T.81); decoded.
    NC_IMAGE_JPEG = 2,
    /// WebP (RFC 9649); decoded, for an animation its first picture.
    NC_IMAGE_WEBP = 3,
    /// GIF.
    NC_IMAGE_GIF = 4,
    /// BMP.
    NC_IMAGE_BMP = 5,
    /// ICO or CUR.
    NC_IMAGE_ICO = 6,
    /// TIFF.
    NC_IMAGE_TIFF = 7,
} nc_image_format;

/// Options of decoding. A zeroed struct means the defaults.
typedef struct nc_image_options {
    /// Limit of the stored image, in pixels; 0 means 50,000,000.
    size_t max_pixels;
    /// Limit of the decoded image, and of a decoder's buffers, in bytes; 0 means 256 MiB.
    size_t max_bytes;
    /// The largest width as shown, in pixels. A wider image is scaled down. 0 means no limit.
    uint32_t fit_width;
    /// The largest height as shown, in pixels. A higher image is scaled down. 0 means no limit.
    uint32_t fit_height;
    /// True to ignore EXIF's orientation.
    bool ignores_orientation;
} nc_image_options;

/// An image's properties, and the size that it is decoded to.
typedef struct nc_image_plan {
    /// The format.
    nc_image_format format;
    /// Pixels in a stored row; 0 for ICO and TIFF, which hold several images.
    uint32_t stored_width;
    /// Number of stored rows.
    uint32_t stored_height;
    /// EXIF's orientation, 1 to 8; 1 if there is none.
    uint32_t orientation;
    /// True if it holds more pictures than the one that is decoded.
    bool is_animated;
    /// Pixels in a row of the decoded image.
    uint32_t width;
    /// Rows of the decoded image.
    uint32_t height;
} nc_image_plan;

/// Returns the format of an image, from at most 16 bytes of its beginning. Pure; call from any thread.
nc_image_format nc_image_recognize(const uint8_t *NC_IMAGE_NULLABLE bytes, size_t count);

/// Reads an image's properties, and determines its decoded size.
///
/// Returns NC_IMAGE_OK; NC_IMAGE_MALFORMED; NC_IMAGE_TOO_LARGE if it exceeds the options; NC_IMAGE_UNSUPPORTED for a
/// format that is not decoded, with *out filled all the same. Pure; call from any thread.
nc_image_status nc_image_measure(nc_image_plan *out, const uint8_t *NC_IMAGE_NULLABLE bytes, size_t count,
                                 const nc_image_options *NC_IMAGE_NULLABLE options,
                                 nc_image_error *NC_IMAGE_NULLABLE err);

/// Decodes an image from its top left pixel on: red, green, blue, alpha, not multiplied by alpha.
///
/// - pixels:     room for the decoded image; after a failure its content is undefined.
/// - room_bytes: exactly width * height * 4 of nc_image_measure() with the same options.
/// Returns NC_IMAGE_OK, the failures of nc_image_measure(), NC_IMAGE_USAGE for another room, NC_IMAGE_NO_MEMORY. Pure;
/// call from any thread.
nc_image_status nc_image_decode(uint8_t *pixels, size_t room_bytes, const uint8_t *NC_IMAGE_NULLABLE bytes,
                                size_t count, const nc_image_options *NC_IMAGE_NULLABLE options,
                                nc_image_error *NC_IMAGE_NULLABLE err);

/// Encodes pixels as a PNG with 8 bits per channel.
///
/// - out:    owned by the caller; release with nc_image_free().
/// - pixels: width * height * 4 bytes, in the format of nc_image_decode().
/// Returns NC_IMAGE_OK, NC_IMAGE_USAGE without pixels, NC_IMAGE_NO_MEMORY. Pure; call from any thread.
nc_image_status nc_image_write_png(uint8_t *NC_IMAGE_NULLABLE *NC_IMAGE_NULLABLE out, size_t *out_count,
                                   const uint8_t *pixels, uint32_t width, uint32_t height,
                                   nc_image_error *NC_IMAGE_NULLABLE err);

/// Frees the result of nc_image_write_png(); NULL is ignored. Call from any thread.
void nc_image_free(uint8_t *NC_IMAGE_NULLABLE bytes);

/* --- memory pressure --- */

/// Called when memory is short, on a thread that does nothing else, so it may take its time.
typedef void (*nc_pressure_fn)(void *NC_IMAGE_NULLABLE ctx);

/// Called after the last pressure report: the last use of `ctx`.
typedef void (*nc_pressure_end_fn)(void *NC_IMAGE_NULLABLE ctx);

/// A watch over a descriptor that reports pressure by POLLPRI. Thread-safe.
typedef struct nc_pressure nc_pressure;

/// Opens a trigger of Linux's pressure stall information. It reports when tasks waited for memory for `stall_ms` within
/// two seconds. No privileges are needed (Linux 6.5 and later).
///
/// - out:  a descriptor that the caller closes, or passes to nc_pressure_start().
/// - path: NULL means /proc/pressure/memory; for a control group, its memory.pressure.
/// Returns NC_IMAGE_OK, NC_IMAGE_USAGE for a stall outside 1 to 2000, NC_IMAGE_NO_PRESSURE if the system has none.
nc_image_status nc_pressure_open(int *out, const char *NC_IMAGE_NULLABLE path, uint32_t stall_ms,
                                 nc_image_error *NC_IMAGE_NULLABLE err);

/// Starts a thread that calls `on_pressure` when the descriptor reports pressure, and `on_end` at its end.
///
/// - out:        stop it with nc_pressure_stop().
/// - descriptor: closed when the watch ends, or if it cannot start.
/// Returns NC_IMAGE_OK, NC_IMAGE_USAGE, NC_IMAGE_NO_MEMORY, NC_IMAGE_NO_PRESSURE if no thread could be started.
nc_image_status nc_pressure_start(nc_pressure *NC_IMAGE_NULLABLE *NC_IMAGE_NULLABLE out, int descriptor,
                                  nc_pressure_fn on_pressure, nc_pressure_end_fn on_end, void *NC_IMAGE_NULLABLE ctx,
                                  nc_image_error *NC_IMAGE_NULLABLE err);

/// Ends the watch, which frees itself. Never blocks, and may be called from on_pressure. NULL is ignored.
void nc_pressure_stop(nc_pressure *NC_IMAGE_NULLABLE pressure);

NC_IMAGE_END
#ifdef __cplusplus
}
#endif

#endif
