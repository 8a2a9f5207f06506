/// The private structure of a form and its reader.
///
/// A form's text has the wire format: the heads of all parts, and the contents of those in memory. Other contents are
/// inserts: a position in the text and the source of the bytes. A reader copies the text up to the next insert, then
/// the insert.
#ifndef NETCORE_PRIVATE_MULTIPART_H
#define NETCORE_PRIVATE_MULTIPART_H

#include "body/part_head.h"

#include <netcore/multipart.h>
#include <stdatomic.h>

typedef enum nc_insert_kind {
    NC_INSERT_BYTES, // borrowed
    NC_INSERT_FILE,
    NC_INSERT_SOURCE,
} nc_insert_kind;

/// Content that is not in the text.
typedef struct nc_insert {
    nc_insert_kind kind;
    size_t at;             // position in the text
    size_t part;           // index of its part
    uint64_t length;       // of bytes and sources
    const uint8_t *bytes;  // of bytes
    char *path;            // of a file, NUL-terminated
    nc_body_source source; // of a source
    bool was_pulled;       // true since the last rewind; another reader may have pulled it
} nc_insert;

/// The range of a part's content in the text.
typedef struct nc_part_place {
    size_t begin;
    size_t end;
} nc_part_place;

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
    bool asks_system_types;
    bool has_chosen_boundary;
    bool has_files;
    bool has_endless_source;
    nc_buf text;
    nc_part_place *places; // one per part
    size_t count;
    size_t place_room;
    nc_insert *inserts;
    size_t insert_count;
    size_t insert_room;
    char opening[NC_OPENING_BYTES + 1]; // CRLF "--" boundary CRLF
    size_t opening_length;
    char field_opening[NC_OPENING_BYTES + NC_FIELD_HEAD_BYTES]; // the same, with a head up to its name
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
    size_t insert;       // the next one, or the current one
    uint64_t done;       // bytes of the current one
    size_t begun;        // inserts that were started since the first byte
    bool is_source_over; // the source has reported its end
    size_t closing_at;
    int fd; // of the file of insert fd_insert; -1
    size_t fd_insert;
    bool opens_elsewhere; // nc_multipart_reader_wants_file() reports files, which another thread opens
    bool wants_file;
    nc_error error;
    uint64_t lengths[]; // of the inserts, including the measured files
};

/// A file to be opened by a thread that may block.
typedef struct nc_part_opening {
    const nc_multipart *form;
    size_t insert;
    uint64_t length;
    int old_fd; // to close first, or -1
    int fd;     // the result, or -1
    nc_error error;
} nc_part_opening;

/// Returns "Content-Type: …" for libcurl's list, NUL-terminated.
const char *nc_multipart_type_field(const nc_multipart *form);

/// Creates a reader without measuring its files. Returns NC_OK, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_multipart_reader_make(nc_multipart_reader **out, nc_multipart *form, nc_error *err);
/// Measures the files and computes the length. May wait for the disk.
NC_NODISCARD nc_status nc_multipart_reader_measure(nc_multipart_reader *reader, nc_error *err);
/// Ends the reader with a permanent error.
void nc_multipart_reader_fail(nc_multipart_reader *reader, const nc_error *error);
/// Returns NC_ERR_BODY_LENGTH for a file whose size has changed.
nc_status nc_part_file_refuse_length(nc_error *err, const char *path, bool is_long);
/// Returns true if the reader needs its next file, and fills in `out`. Reported once per file.
bool nc_multipart_reader_wants_file(nc_multipart_reader *reader, nc_part_opening *out);
/// Opens that file. It uses neither the reader nor the thread's state.
void nc_part_opening_run(nc_part_opening *opening);
/// Passes the file to the reader. Closes it if it is not needed any more.
void nc_multipart_reader_take_file(nc_multipart_reader *reader, nc_part_opening *opening);

#endif
