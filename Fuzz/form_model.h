/// A form that a fuzzer builds, and a parser that checks its body as a server would read it.
///
/// The parser implements RFC 2046 and RFC 7578, and shares nothing with the library.
#ifndef NETCORE_FUZZ_FORM_MODEL_H
#define NETCORE_FUZZ_FORM_MODEL_H

#include "input.h"

enum { MAX_PARTS = 7, MAX_HEADERS = 2, FIELD = 0, BYTES = 1, BORROWED = 2, FILE_PART = 3, SOURCE = 4, BARE = 5 };

/// A part as it was requested.
typedef struct model {
    unsigned kind;
    nc_slice name;
    nc_slice file_name; // NULL data: none
    nc_slice type;
    nc_header headers[MAX_HEADERS];
    size_t header_count;
    nc_slice content;
    size_t at;         // offset in a source
    unsigned pulls;    // number of calls of a source
    uint8_t behaviour; // how a source or a file deviates
} model;

/// The form that one input describes.
typedef struct form_case {
    model parts[MAX_PARTS];
    size_t count;
    nc_slice boundary;
    bool is_honest;    // every length is as announced, and nothing fails
    bool is_parseable; // no content holds the boundary
    bool is_limited;   // to a small amount of memory
    nc_buf written;    // by the file operations
    uint8_t slowness;
    unsigned calls;
} form_case;

/// Values of `slowness` for which an object already exists at the destination.
enum { PLACE_IS_FILE = 249, PLACE_LEADS_TO_DEVICE = 250, PLACE_IS_PIPE = 251 };

/// Returns the simulated file operations of a form.
nc_file_ops form_files(form_case *at);

/// Checks that a body holds exactly the requested parts.
void form_check_body(const form_case *at, nc_slice body);

#endif
