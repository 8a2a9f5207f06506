/// The record of a partial file: NAME.part.nk, lines of text followed by a checksum. Pure.
///
///     netkit partial download 1
///     url http://example.com/film.mkv
///     path /data/film.mkv
///     etag "33a64df5"
///     strong yes
///     total 1048576
///     time 1766000000000
///     piece 0 1048576 524288 0123456789abcdef0123456789abcdef
///     check 0123456789abcdef0123456789abcdef
#ifndef NETCORE_PRIVATE_DOWNLOAD_RECORD_H
#define NETCORE_PRIVATE_DOWNLOAD_RECORD_H

#include "net/download_decide.h"
#include "store/checksum.h"

enum { NC_RECORD_MAX_BYTES = 512 * 1024, NC_RECORD_MAX_PIECES = 64 };

/// A range of the file. Its first `proven` bytes are on disk.
typedef struct nc_record_piece {
    uint64_t start;
    uint64_t end; // NC_LENGTH_UNKNOWN: to the end of the file
    uint64_t proven;
    uint8_t sum[NC_CHECKSUM_BYTES]; // of the proven bytes
} nc_record_piece;

/// Texts point into the record's buffer, or belong to the writer.
typedef struct nc_record {
    nc_slice url;
    nc_slice path; // of the destination
    nc_validators validators;
    nc_download_digests digests;
    uint64_t total; // NC_LENGTH_UNKNOWN
    int64_t time_ms;
    size_t piece_count;
    nc_record_piece pieces[NC_RECORD_MAX_PIECES];
} nc_record;

/// Appends a record's text. The buffer's status shows a failure.
void nc_record_write(nc_buf *out, const nc_record *record);
/// Reads a record. Its texts are copied to `texts`, which it points into. Returns false if it is damaged, foreign or
/// inconsistent: the ranges must follow each other without gaps from 0 to the end, and none is proven beyond its end.
bool nc_record_read(nc_record *out, nc_buf *texts, nc_slice text);
/// Returns the proven bytes of all ranges.
uint64_t nc_record_proven(const nc_record *record);

#endif
