/// Multipart forms with the boundary "B", and helpers that read them.
#ifndef NETCORE_TEST_PARTS_H
#define NETCORE_TEST_PARTS_H

#include "harness.h"

/// The fields of a part named "f" and the empty line after them.
#define PARTS_FRAME(more) "Content-Disposition: form-data; name=\"f\"" more "\r\n\r\n"

/// Creates an empty form. NULL means the system's file operations.
nc_multipart *parts_form(const nc_file_ops *files);
/// Starts to read a form.
nc_multipart_reader *parts_reader(nc_multipart *form);
/// Continues in pieces, for transfer 7, until the result is not NC_PULL_MORE.
nc_pull parts_read(nc_multipart_reader *reader, nc_buf *out, size_t piece_bytes);
/// Fails unless the remaining text is `expected`.
void parts_expect(nc_multipart_reader *reader, const char *expected, size_t piece_bytes);
/// Fails unless reading fails permanently with this status and a message that contains `part`.
void parts_expect_failure(nc_multipart_reader *reader, nc_status status, const char *part);

#endif
