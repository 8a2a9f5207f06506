/// The part of a body that a request selects (RFC 9110, 14.1.2).
#ifndef NCT_RANGE_H
#define NCT_RANGE_H

#include <stddef.h>
#include <stdint.h>

/// The meaning of a Range field for a body.
typedef enum nct_range_kind {
    /// The whole body: the field is absent or unsupported.
    NCT_RANGE_WHOLE,
    /// `length` bytes from `first` on.
    NCT_RANGE_PART,
    /// Outside the body.
    NCT_RANGE_UNSATISFIABLE,
} nct_range_kind;

/// A part of a body.
typedef struct nct_range {
    /// Which of the fields below apply.
    nct_range_kind kind;
    /// Offset of the first byte.
    uint64_t first;
    /// Number of bytes.
    uint64_t length;
} nct_range;

/// Parses a Range field's value for a body of `body_length` bytes.
nct_range nct_range_parse(const void *value, size_t length, uint64_t body_length);

#endif
