/// Macros for export, nullability and enums, and the library's version.
///
/// Every other header includes this one. Memory allocation is in hooks.h, byte slices and buffers in bytes.h, errors in
/// status.h.
///
///     printf("netcore %s\n", nc_version());
#ifndef NETCORE_BASE_H
#define NETCORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/// Begins C declarations in C++.
#define NC_EXTERN_C_BEGIN extern "C" {
/// Ends C declarations in C++.
#define NC_EXTERN_C_END }
#else
#define NC_EXTERN_C_BEGIN
#define NC_EXTERN_C_END
#endif

#if defined(__GNUC__) || defined(__clang__)
/// Exports a symbol from the shared library.
#define NC_API __attribute__((visibility("default")))
/// Marks a function whose result must be used.
#define NC_NODISCARD __attribute__((warn_unused_result))
/// Marks a printf format, which the compiler checks against its arguments.
#define NC_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define NC_API
#define NC_NODISCARD
#define NC_PRINTF(format_index, first_argument)
#endif

#if defined(__clang__)
/// Marks a pointer that may be NULL.
#define NC_NULLABLE _Nullable
/// Marks a pointer that is never NULL.
#define NC_NONNULL _Nonnull
/// Begins a range where unmarked pointers are never NULL. Silences -Wnullability-extension (-Wpedantic).
#define NC_ASSUME_NONNULL_BEGIN                                                                                        \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                   \
        _Pragma("clang assume_nonnull begin")
/// Ends the range that NC_ASSUME_NONNULL_BEGIN begins.
#define NC_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
/// Declares an open enum: a switch with a default stays correct when values are added.
#define NC_ENUM(name) enum __attribute__((enum_extensibility(open))) name
#else
#define NC_NULLABLE
#define NC_NONNULL
#define NC_ASSUME_NONNULL_BEGIN
#define NC_ASSUME_NONNULL_END
#define NC_ENUM(name) enum name
#endif

/// The major version of these headers.
#define NC_VERSION_MAJOR 0
/// The minor version of these headers.
#define NC_VERSION_MINOR 1
/// The patch version of these headers.
#define NC_VERSION_PATCH 0

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Returns the version of the linked library, as "major.minor.patch".
///
/// Returns a static string.
/// Pure; call from any thread.
NC_API const char *nc_version(void);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
