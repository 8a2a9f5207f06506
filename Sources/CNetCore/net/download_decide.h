/// What an answer to a download's request means for what is there already. Pure: nothing is touched.
#ifndef NETCORE_PRIVATE_DOWNLOAD_DECIDE_H
#define NETCORE_PRIVATE_DOWNLOAD_DECIDE_H

#include "net/download_text.h"

#include <netcore/response.h>

/// What tells one version of a resource from another; texts are borrowed.
typedef struct nc_validators {
    nc_slice etag;     // empty for none
    nc_slice modified; // Last-Modified; empty for none
    bool is_strong;    // one of them proves that the bytes are the same (RFC 9110, 8.8.2)
} nc_validators;

/// What a response's head says of the file.
typedef struct nc_download_facts {
    uint16_t status;
    bool has_range; // one Content-Range that is valid
    nc_content_range range;
    bool claims_range; // a Content-Range in bytes, valid or not
    bool has_length;
    uint64_t length; // Content-Length
    bool is_coded;   // by more than "identity"
    bool is_multipart;
    bool refuses_ranges; // Accept-Ranges: none
    nc_validators validators;
    nc_download_digests digests; // of the whole file
} nc_download_facts;

/// What was asked for, and what is held.
typedef struct nc_download_question {
    bool has_part;  // there is something of the file that is lost when it begins anew
    bool has_range; // "Range: bytes=first-last" was sent
    uint64_t first; // of it
    uint64_t last;  // NC_LENGTH_UNKNOWN: to the end
    uint64_t held;  // bytes held from the start, when they are one piece; otherwise 0
    uint64_t total; // of the whole; NC_LENGTH_UNKNOWN
    bool trusts_server;
    nc_validators validators; // of what is held
    nc_download_digests digests;
} nc_download_question;

typedef enum nc_download_step {
    NC_DOWNLOAD_TAKE_WHOLE, // the body is the file, from its first byte
    NC_DOWNLOAD_TAKE_PART,  // the body is the range that was asked for, of the same version
    NC_DOWNLOAD_HAS_ALL,    // what is held is the whole file
    NC_DOWNLOAD_ASK_WHOLE,  // nothing of this can be used: ask again without a range
    NC_DOWNLOAD_FAIL_RANGE, // a range that nobody asked for
    NC_DOWNLOAD_FAIL_STATUS // no success
} nc_download_step;

/// Reads a head. Its slices live as long as the response's fields.
void nc_download_read_facts(nc_download_facts *out, const nc_response *response);
/// Whether the body is a part of the file: status 206, or another success whose Content-Range names less than the
/// whole.
bool nc_download_is_part(const nc_download_facts *facts);
/// Whether an answer is of the version that is held.
bool nc_download_is_same_version(const nc_download_question *held, const nc_download_facts *facts);
/// Says what to do.
nc_download_step nc_download_decide(const nc_download_question *question, const nc_download_facts *facts);
/// Whether a part with these validators may be gone on with at all.
bool nc_download_may_resume(const nc_validators *validators, bool trusts_server);
/// What If-Range says; empty when nothing fits.
nc_slice nc_download_if_range(const nc_validators *validators);

#endif
