/// A form as a fuzzer asks for it, and a parser that says what a server makes of its body.
///
/// The parser reads RFC 2046 and RFC 7578 and shares nothing with the library.
#ifndef NETCORE_FUZZ_FORM_MODEL_H
#define NETCORE_FUZZ_FORM_MODEL_H

#include "input.h"

enum { MAX_PARTS = 7, MAX_HEADERS = 2, FIELD = 0, BYTES = 1, BORROWED = 2, FILE_PART = 3, SOURCE = 4, BARE = 5 };

/// A part as it was asked for.
typedef struct model {
    unsigned kind;
    nc_slice name;
    nc_slice file_name; // NULL data: none
    nc_slice type;
    nc_header headers[MAX_HEADERS];
    size_t header_count;
    nc_slice content;
    size_t at;       // of a source
    unsigned pulls;  // of a source
    uint8_t manners; // of a source or a file
} model;

/// Everything one input asks for.
typedef struct scene {
    model parts[MAX_PARTS];
    size_t count;
    nc_slice boundary;
    bool is_honest;    // every length is what it was said to be, and nothing fails
    bool is_parseable; // no content holds the boundary
    bool is_limited;   // to little memory
    nc_buf written;    // by the file operations
    uint8_t slowness;
    unsigned calls;
} scene;

/// What stands where the form is to be written, by the scene's slowness; otherwise nothing.
enum { PLACE_IS_FILE = 249, PLACE_LEADS_TO_DEVICE = 250, PLACE_IS_PIPE = 251 };

/// Files of the scene's own.
nc_file_ops form_files(scene *at);

/// Checks that a body holds just the parts that were asked for.
void form_check_body(const scene *at, nc_slice body);

#endif
