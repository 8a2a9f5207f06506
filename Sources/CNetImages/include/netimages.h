/// Recognizes images by their first bytes, and decodes PNG, JPEG and WebP to RGBA, over libpng, libjpeg-turbo and
/// libwebp.
///
/// Sizes are checked before anything is decoded or allocated: an image that says it is too large costs nothing. What is
/// cut short or damaged is refused, never half shown. Colour profiles and gamma are left alone.
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

/// What became of a call.
typedef NC_IMAGE_ENUM(nc_image_status){
    /// It worked.
    NC_IMAGE_OK = 0,
    /// An argument is missing or out of range.
    NC_IMAGE_USAGE = 1,
    /// Memory ran out.
    NC_IMAGE_NO_MEMORY = 2,
    /// The bytes are no image, or a damaged one.
    NC_IMAGE_MALFORMED = 3,
    /// The image is larger than a limit.
    NC_IMAGE_TOO_LARGE = 4,
    /// It is an image of a kind that is recognized and not decoded.
    NC_IMAGE_UNSUPPORTED = 5,
    /// The system does not tell of memory pressure.
    NC_IMAGE_NO_PRESSURE = 6,
} nc_image_status;

/// What went wrong, in the caller's own storage.
typedef struct nc_image_error {
    /// The same value that the call returned.
    nc_image_status status;
    /// The number of the library underneath, or an errno; 0 where there is none.
    int32_t native_code;
    /// One line, lower-case start, no trailing period.
    char message[200];
} nc_image_error;

/// What kind of image it is.
typedef NC_IMAGE_ENUM(nc_image_format){
    /// None that is known.
    NC_IMAGE_UNKNOWN = 0,
    /// PNG (ISO/IEC 15948); decoded.
    NC_IMAGE_PNG = 1,
    /// JPEG (ITU T.81); decoded.
    NC_IMAGE_JPEG = 2,
    /// WebP (RFC 9649); decoded, an animation's first picture.
    NC_IMAGE_WEBP = 3,
    /// GIF.
    NC_IMAGE_GIF = 4,
    /// BMP.
    NC_IMAGE_BMP = 5,
    /// ICO, or CUR.
    NC_IMAGE_ICO = 6,
    /// TIFF.
    NC_IMAGE_TIFF = 7,
} nc_image_format;

/// How an image is decoded; all zero is the default.
typedef struct nc_image_options {
    /// Pixels of the image as it is stored; 0 is 50,000,000.
    size_t max_pixels;
    /// Bytes of the decoded image, and of what a decoder needs to have whole; 0 is 256 MiB.
    size_t max_bytes;
    /// The largest width as shown, in pixels; a wider image is scaled down. 0 is no limit.
    uint32_t fit_width;
    /// The largest height as shown, in pixels; a higher image is scaled down. 0 is no limit.
    uint32_t fit_height;
    /// Whether the orientation that EXIF tells is ignored.
    bool ignores_orientation;
} nc_image_options;

/// What an image says of itself, and what it becomes.
typedef struct nc_image_plan {
    /// What kind it is.
    nc_image_format format;
    /// Pixels in a row as it is stored; 0 for ICO and TIFF, which hold several images.
    uint32_t stored_width;
    /// Rows as they are stored.
    uint32_t stored_height;
    /// EXIF's orientation, 1 to 8; 1 where there is none.
    uint32_t orientation;
    /// Whether it holds more pictures than the one that is decoded.
    bool is_animated;
    /// Pixels in a row of the decoded image.
    uint32_t width;
    /// Rows of the decoded image.
    uint32_t height;
} nc_image_plan;

/// Tells what kind of image begins so; at most 16 bytes are looked at. Pure; call from any thread.
nc_image_format nc_image_recognize(const uint8_t *NC_IMAGE_NULLABLE bytes, size_t count);

/// Reads what an image says of itself, and decides how large it becomes.
///
/// Returns NC_IMAGE_OK; NC_IMAGE_MALFORMED; NC_IMAGE_TOO_LARGE beyond the options; NC_IMAGE_UNSUPPORTED for a kind that
/// is not decoded, with *out filled all the same. Pure; call from any thread.
nc_image_status nc_image_measure(nc_image_plan *out, const uint8_t *NC_IMAGE_NULLABLE bytes, size_t count,
                                 const nc_image_options *NC_IMAGE_NULLABLE options,
                                 nc_image_error *NC_IMAGE_NULLABLE err);

/// Decodes an image, its upper left pixel first: red, green, blue, alpha, not multiplied by alpha.
///
/// - pixels:     room for the decoded image; after a failure its content is undefined.
/// - room_bytes: exactly width * height * 4 of nc_image_measure() with the same options.
/// Returns NC_IMAGE_OK, what nc_image_measure() may, NC_IMAGE_USAGE for other room, NC_IMAGE_NO_MEMORY. Pure; call from
/// any thread.
nc_image_status nc_image_decode(uint8_t *pixels, size_t room_bytes, const uint8_t *NC_IMAGE_NULLABLE bytes,
                                size_t count, const nc_image_options *NC_IMAGE_NULLABLE options,
                                nc_image_error *NC_IMAGE_NULLABLE err);

/// Writes pixels as a PNG with 8 bits a channel.
///
/// - out:    owned by the caller; release with nc_image_free().
/// - pixels: width * height * 4 bytes, as nc_image_decode() leaves them.
/// Returns NC_IMAGE_OK, NC_IMAGE_USAGE without pixels, NC_IMAGE_NO_MEMORY. Pure; call from any thread.
nc_image_status nc_image_write_png(uint8_t *NC_IMAGE_NULLABLE *NC_IMAGE_NULLABLE out, size_t *out_count,
                                   const uint8_t *pixels, uint32_t width, uint32_t height,
                                   nc_image_error *NC_IMAGE_NULLABLE err);

/// Frees what nc_image_write_png() made; NULL is ignored. Call from any thread.
void nc_image_free(uint8_t *NC_IMAGE_NULLABLE bytes);

/* --- memory pressure --- */

/// Hears that memory is short; on a thread of its own, so it may take its time.
typedef void (*nc_pressure_fn)(void *NC_IMAGE_NULLABLE ctx);

/// Hears that nothing will be heard any more: the last use of `ctx`.
typedef void (*nc_pressure_end_fn)(void *NC_IMAGE_NULLABLE ctx);

/// A watch over a descriptor that tells by POLLPRI. Thread-safe.
typedef struct nc_pressure nc_pressure;

/// Opens a trigger of Linux's pressure stall information: it tells when tasks waited for memory for `stall_ms` within
/// two seconds. No privileges are needed (Linux 6.5 and later).
///
/// - out:  a descriptor, the caller's to close or to give to nc_pressure_start().
/// - path: NULL is /proc/pressure/memory; that of a control group is its memory.pressure.
/// Returns NC_IMAGE_OK, NC_IMAGE_USAGE for a stall beyond 1 to 2000, NC_IMAGE_NO_PRESSURE where the system has none.
nc_image_status nc_pressure_open(int *out, const char *NC_IMAGE_NULLABLE path, uint32_t stall_ms,
                                 nc_image_error *NC_IMAGE_NULLABLE err);

/// Starts a thread that calls `on_pressure` whenever the descriptor tells of pressure, and `on_end` at last.
///
/// - out:        give it up with nc_pressure_stop().
/// - descriptor: closed when the watch ends, or when it cannot begin.
/// Returns NC_IMAGE_OK, NC_IMAGE_USAGE, NC_IMAGE_NO_MEMORY, NC_IMAGE_NO_PRESSURE where no thread could be started.
nc_image_status nc_pressure_start(nc_pressure *NC_IMAGE_NULLABLE *NC_IMAGE_NULLABLE out, int descriptor,
                                  nc_pressure_fn on_pressure, nc_pressure_end_fn on_end, void *NC_IMAGE_NULLABLE ctx,
                                  nc_image_error *NC_IMAGE_NULLABLE err);

/// Ends the watch, which frees itself; never blocks, and is legal inside on_pressure too. NULL is ignored.
void nc_pressure_stop(nc_pressure *NC_IMAGE_NULLABLE pressure);

NC_IMAGE_END
#ifdef __cplusplus
}
#endif

#endif
