/// Parsers for ranges, file names and digests in a response's fields. Pure.
#ifndef NETCORE_PRIVATE_DOWNLOAD_TEXT_H
#define NETCORE_PRIVATE_DOWNLOAD_TEXT_H

#include <netcore/bytes.h>
#include <netcore/digest.h>

/// Content-Range (RFC 9110, 14.4).
typedef struct nc_content_range {
    bool is_unsatisfied; // "bytes */N": first and last are meaningless
    uint64_t first;
    uint64_t last;
    uint64_t total; // NC_LENGTH_UNKNOWN for '*'
} nc_content_range;

/// Parses a Content-Range. Returns false if it is invalid, or has another unit.
bool nc_content_range_parse(nc_content_range *out, nc_slice text);

/// Parses a number. Returns false if there are no digits, other characters or too many digits.
bool nc_decimal_read(uint64_t *out, nc_slice text);

/// The expected digests of a file.
typedef struct nc_download_digests {
    bool has_sha256;
    bool has_md5;
    uint8_t sha256[NC_SHA256_BYTES];
    uint8_t md5[NC_MD5_BYTES];
} nc_download_digests;

/// Adds the digests of a Repr-Digest or Content-Digest field (RFC 9530; `is_structured`) or a Digest field (RFC 3230).
/// Unknown algorithms and malformed members are skipped.
void nc_digests_take(nc_download_digests *digests, nc_slice field, bool is_structured);
/// Returns true if all digests that both have are equal.
bool nc_digests_agree(const nc_download_digests *a, const nc_download_digests *b);

/// The longest generated name, in bytes.
enum { NC_SAFE_NAME_BYTES = 200 };

/// Appends the file name of Content-Disposition (RFC 6266, RFC 8187) as UTF-8, unchanged. Returns false if it has none.
bool nc_disposition_name(nc_buf *out, nc_slice field);
/// Appends the last component of a URL's path, decoded. Returns false if there is none.
bool nc_url_last_component(nc_buf *out, nc_slice url);
/// Appends a safe file name: one path component on every system, not hidden, without control characters, at most
/// NC_SAFE_NAME_BYTES long. It is "download" if nothing is left.
void nc_safe_name(nc_buf *out, nc_slice name);

#endif
