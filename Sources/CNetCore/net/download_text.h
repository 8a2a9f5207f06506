/// What a response's fields say of a download: ranges, names, digests. Pure.
#ifndef NETCORE_PRIVATE_DOWNLOAD_TEXT_H
#define NETCORE_PRIVATE_DOWNLOAD_TEXT_H

#include <netcore/bytes.h>
#include <netcore/digest.h>

/// Content-Range (RFC 9110, 14.4).
typedef struct nc_content_range {
    bool is_unsatisfied; // "bytes */N": first and last mean nothing
    uint64_t first;
    uint64_t last;
    uint64_t total; // NC_LENGTH_UNKNOWN for '*'
} nc_content_range;

/// Reads one; false when it is none, or another unit.
bool nc_content_range_parse(nc_content_range *out, nc_slice text);

/// Reads digits alone; false when there are none, others, or too many.
bool nc_decimal_read(uint64_t *out, nc_slice text);

/// Digests that a file must have.
typedef struct nc_download_digests {
    bool has_sha256;
    bool has_md5;
    uint8_t sha256[NC_SHA256_BYTES];
    uint8_t md5[NC_MD5_BYTES];
} nc_download_digests;

/// Takes what a Repr-Digest or Content-Digest (RFC 9530) says, `is_structured`, or a Digest (RFC 3230). Unknown
/// algorithms and malformed members are passed over.
void nc_digests_take(nc_download_digests *digests, nc_slice field, bool is_structured);
/// Whether no digest that both have differs.
bool nc_digests_agree(const nc_download_digests *a, const nc_download_digests *b);

/// The longest name that is made up, in bytes.
enum { NC_SAFE_NAME_BYTES = 200 };

/// Appends the file name that Content-Disposition gives (RFC 6266, RFC 8187), as UTF-8 and as it came; false when it
/// gives none.
bool nc_disposition_name(nc_buf *out, nc_slice field);
/// Appends the last component of a URL's path, decoded; false when there is none.
bool nc_url_last_component(nc_buf *out, nc_slice url);
/// Appends a name that is one component of a path on any system, is not hidden, moves no cursor and is at most
/// NC_SAFE_NAME_BYTES long; "download" when nothing is left of it.
void nc_safe_name(nc_buf *out, nc_slice name);

#endif
