/// Language-neutral foundations: export, nullability and enum macros, and the version.
///
/// Every other header includes this one. It refuses to declare anything that has behaviour of its own
/// beyond the version: memory is in hooks.h, bytes in bytes.h, errors in status.h.
///
///     printf("netcore %s\n", nc_version());
#ifndef NETCORE_BASE_H
#define NETCORE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
/// Begins what is C for C++ too.
#define NC_EXTERN_C_BEGIN extern "C" {
/// Ends it.
#define NC_EXTERN_C_END }
#else
#define NC_EXTERN_C_BEGIN
#define NC_EXTERN_C_END
#endif

#if defined(__GNUC__) || defined(__clang__)
/// What the shared library shows.
#define NC_API __attribute__((visibility("default")))
/// A result that is not to be thrown away.
#define NC_NODISCARD __attribute__((warn_unused_result))
/// A format that the compiler compares with its arguments.
#define NC_PRINTF(format_index, first_argument) __attribute__((format(printf, format_index, first_argument)))
#else
#define NC_API
#define NC_NODISCARD
#define NC_PRINTF(format_index, first_argument)
#endif

#if defined(__clang__)
/// May be NULL.
#define NC_NULLABLE _Nullable
/// Is never NULL.
#define NC_NONNULL _Nonnull
/// Between these two, pointers are non-null unless marked; the marks stay quiet under -Wpedantic.
#define NC_ASSUME_NONNULL_BEGIN                                                                                        \
    _Pragma("clang diagnostic push") _Pragma("clang diagnostic ignored \"-Wnullability-extension\"")                   \
        _Pragma("clang assume_nonnull begin")
/// Ends it.
#define NC_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end") _Pragma("clang diagnostic pop")
/// Open enums: values added later do not break a switch that has a default.
#define NC_ENUM(name) enum __attribute__((enum_extensibility(open))) name
#else
#define NC_NULLABLE
#define NC_NONNULL
#define NC_ASSUME_NONNULL_BEGIN
#define NC_ASSUME_NONNULL_END
#define NC_ENUM(name) enum name
#endif

/// The version of these headers, as numbers that the preprocessor can compare.
#define NC_VERSION_MAJOR 0
/// As above.
#define NC_VERSION_MINOR 1
/// As above.
#define NC_VERSION_PATCH 0

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Tells the version of the library that is linked, as "major.minor.patch".
///
/// Returns a static string. Pure; call from any thread.
NC_API const char *nc_version(void);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
