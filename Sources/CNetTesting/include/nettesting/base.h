/// Nullability and open enums, for both C and Swift.
#ifndef NETTESTING_BASE_H
#define NETTESTING_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__clang__)
#define NCT_NULLABLE _Nullable
#define NCT_NONNULL _Nonnull
#define NCT_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NCT_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NCT_ENUM(name) enum __attribute__((enum_extensibility(open))) name
#else
#define NCT_NULLABLE
#define NCT_NONNULL
#define NCT_ASSUME_NONNULL_BEGIN
#define NCT_ASSUME_NONNULL_END
#define NCT_ENUM(name) enum name
#endif

#endif
