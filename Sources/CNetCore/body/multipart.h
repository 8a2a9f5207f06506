/// The internal structure of a form and its reader.
///
/// A form's `text` is in the wire format. It contains the heads of all parts, and the contents that were copied. Each
/// other content (a file, a source, borrowed bytes) is an insert, which has a position in the text. A reader copies the
/// text up to the next insert, then the content of the insert.
#ifndef NETCORE_PRIVATE_MULTIPART_H
#define NETCORE_PRIVATE_MULTIPART_H

#include "body/form_part_head.h"

#include <netcore/multipart.h>
#include <stdatomic.h>

typedef enum nc_insert_kind {
    NC_INSERT_BYTES, // borrowed
    NC_INSERT_FILE,
    NC_INSERT_SOURCE,
} nc_insert_kind;

/// Content that is not in the form's text.
typedef struct nc_insert {
    nc_insert_kind kind;
    size_t at;             // position in the text
    size_t part;           // index of its part
    uint64_t length;       // for NC_INSERT_BYTES and NC_INSERT_SOURCE
    const uint8_t *bytes;  // for NC_INSERT_BYTES
    char *path;            // for NC_INSERT_FILE, NUL-terminated
    nc_body_source source; // for NC_INSERT_SOURCE
    bool was_pulled;       // true if a reader, perhaps another one, has called the source since its last rewind
} nc_insert;

/// The range of a part's content in the text.
typedef struct nc_part_range {
    size_t begin;
    size_t end;
} nc_part_range;

enum {
    NC_OPENING_BYTES = 2 + 2 + NC_MULTIPART_MAX_BOUNDARY_BYTES + 2, // CRLF "--" boundary CRLF
    NC_CLOSING_BYTES = NC_OPENING_BYTES + 2,
    NC_TYPE_FIELD_BYTES = 64 + 2 * NC_MULTIPART_MAX_BOUNDARY_BYTES,
};

struct nc_multipart {
    atomic_uint owners;
    atomic_bool is_sealed;
    nc_file_ops files;
    uint32_t packet_bytes;
    uint32_t delay_ms;
    bool uses_system_types;
    bool has_chosen_boundary;
    bool has_files;
    bool has_endless_source;
    nc_buf text;
    nc_part_range *part_ranges; // one per part
    size_t count;
    size_t part_range_capacity;
    nc_insert *inserts;
    size_t insert_count;
    size_t insert_room;
    char opening[NC_OPENING_BYTES + 1]; // CRLF "--" boundary CRLF
    size_t opening_length;
    char field_opening[NC_OPENING_BYTES + NC_FIELD_HEAD_BYTES]; // the same, followed by NC_FIELD_HEAD
    size_t field_opening_length;
    char closing[NC_CLOSING_BYTES + 1]; // CRLF "--" boundary "--" CRLF
    size_t closing_length;
    char type_field[NC_TYPE_FIELD_BYTES]; // "Content-Type: multipart/form-data; boundary=…"
};

typedef enum nc_multipart_phase {
    NC_MULTIPART_TEXT,    // before the next insert
    NC_MULTIPART_CONTENT, // in an insert
    NC_MULTIPART_CLOSING,
    NC_MULTIPART_OVER,
    NC_MULTIPART_FAILED,
} nc_multipart_phase;

struct nc_multipart_reader {
    nc_multipart *form;
    nc_multipart_phase phase;
    uint64_t length;
    size_t text_at;
    size_t insert;       // index of the current insert, or of the next one
    uint64_t done;       // bytes of the current insert that were read
    size_t begun;        // number of inserts that were started since the last rewind
    bool is_source_over; // the current source has returned NC_PULL_END
    size_t closing_at;
    int fd; // descriptor of the file of insert `fd_insert`, or -1
    size_t fd_insert;
    bool opens_files_async; // files are opened by another thread; see nc_multipart_reader_needs_file()
    bool needs_file;
    nc_error error;
    uint64_t lengths[]; // length of each insert
};

/// A file of a form that a worker thread opens, because opening may block.
typedef struct nc_part_open_task {
    const nc_multipart *form;
    size_t insert;
    uint64_t length;
    int old_fd; // a descriptor to close first, or -1
    int fd;     // the opened file, or -1
    nc_error error;
} nc_part_open_task;

/// Returns true if the form can be read more than once: each of its sources can be rewound.
bool nc_multipart_is_repeatable(const nc_multipart *form);
/// Returns the field "Content-Type: …" for libcurl's list of fields, NUL-terminated.
const char *nc_multipart_type_field(const nc_multipart *form);

/// Creates a reader without measuring its files. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_multipart_reader_make(nc_multipart_reader **out, nc_multipart *form, nc_error *err);
/// Measures the files and computes the length. May wait for the disk.
NC_NODISCARD nc_status nc_multipart_reader_measure(nc_multipart_reader *reader, nc_error *err);
/// If the reader waits for a file to be opened, fills in `out` and returns true. Returns true once for each file.
bool nc_multipart_reader_needs_file(nc_multipart_reader *reader, nc_part_open_task *out);
/// Opens the file. Does not access the reader, so any thread may call it.
void nc_part_open_task_run(nc_part_open_task *opening);
/// Gives the opened file, or the error, to the reader. Closes the file if the reader no longer needs it.
void nc_multipart_reader_set_file(nc_multipart_reader *reader, nc_part_open_task *opening);

#endif
