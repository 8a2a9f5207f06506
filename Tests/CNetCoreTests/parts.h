/// Forms with the boundary "B", and what reading them gives.
#ifndef NETCORE_TEST_PARTS_H
#define NETCORE_TEST_PARTS_H

#include "harness.h"

/// The fields of a part named "f" and the empty line behind them.
#define PARTS_FRAME(more) "Content-Disposition: form-data; name=\"f\"" more "\r\n\r\n"

/// Makes an empty form; NULL takes the system's files.
nc_multipart *parts_form(const nc_file_ops *files);
/// Begins to read a form.
nc_multipart_reader *parts_reader(nc_multipart *form);
/// Reads on in pieces, for transfer 7, until something else than NC_PULL_MORE comes.
nc_pull parts_read(nc_multipart_reader *reader, nc_buf *out, size_t piece_bytes);
/// Fails unless the rest is this.
void parts_expect(nc_multipart_reader *reader, const char *expected, size_t piece_bytes);
/// Fails unless reading on fails, for good, with this status and a message that holds `part`.
void parts_expect_failure(nc_multipart_reader *reader, nc_status status, const char *part);

#endif
