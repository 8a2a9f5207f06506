/// Parses ranges and digests in a response's fields, and decides how a download continues after a response. Pure.
#ifndef NETCORE_PRIVATE_RESUME_RULES_H
#define NETCORE_PRIVATE_RESUME_RULES_H

#include "http/content_range.h"

#include <netcore/bytes.h>
#include <netcore/digest.h>
#include <netcore/response.h>

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
/// Returns true if all digests that are present in both are equal.
bool nc_digests_agree(const nc_download_digests *a, const nc_download_digests *b);

/// The validators of a version of a resource; texts are borrowed.
typedef struct nc_validators {
    nc_slice etag;     // empty if absent
    nc_slice modified; // Last-Modified; empty if absent
    bool is_strong;    // a validator proves that the bytes are equal (RFC 9110, 8.8.2)
} nc_validators;

/// The properties of the file that a response's head states.
typedef struct nc_download_facts {
    uint16_t status;
    nc_body_extent extent;
    bool is_multipart;
    bool refuses_ranges; // Accept-Ranges: none
    nc_validators validators;
    nc_download_digests digests; // of the whole file
} nc_download_facts;

/// The request of a download, and the bytes that are stored.
typedef struct nc_resume_state {
    bool has_stored_bytes; // bytes are stored, which are lost if the download begins again
    bool has_range;        // "Range: bytes=first-last" was sent
    uint64_t first;        // of the range
    uint64_t last;         // NC_LENGTH_UNKNOWN: to the end
    uint64_t stored_bytes; // contiguous bytes from the start; otherwise 0
    uint64_t total;        // of the whole file, or NC_LENGTH_UNKNOWN
    bool trusts_server;
    nc_validators validators; // of the stored bytes
    nc_download_digests digests;
} nc_resume_state;

typedef enum nc_download_step {
    NC_DOWNLOAD_TAKE_WHOLE,    // the body is the file from its first byte
    NC_DOWNLOAD_TAKE_PART,     // the body is the requested range of the same version
    NC_DOWNLOAD_IS_COMPLETE,   // the stored bytes are the whole file
    NC_DOWNLOAD_REQUEST_WHOLE, // the response is not usable: request again, without a range
    NC_DOWNLOAD_FAIL_RANGE,    // fail: the response is a range that was not requested
    NC_DOWNLOAD_FAIL_STATUS    // fail: the status is not a success
} nc_download_step;

/// Reads the properties from a response's head. The slices are valid as long as the response's fields.
void nc_download_read_facts(nc_download_facts *out, const nc_response *response);
/// Returns true if the body is a part of the file: status 206, or another success whose Content-Range covers less than
/// the whole.
bool nc_download_is_part(const nc_download_facts *facts);
/// Returns true if a response is of the same version as the stored bytes.
bool nc_download_is_same_version(const nc_resume_state *state, const nc_download_facts *facts);
/// Returns the next step.
nc_download_step nc_download_decide(const nc_resume_state *state, const nc_download_facts *facts);
/// Returns true if a partial file with these validators may be resumed.
bool nc_download_may_resume(const nc_validators *validators, bool trusts_server);
/// Returns the value of If-Range; empty if no validator is suitable.
nc_slice nc_download_if_range(const nc_validators *validators);

#endif
