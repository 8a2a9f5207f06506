/// Decides what a response to a download's request means for the stored bytes. Pure: changes nothing.
#ifndef NETCORE_PRIVATE_DOWNLOAD_DECIDE_H
#define NETCORE_PRIVATE_DOWNLOAD_DECIDE_H

#include "net/download_text.h"

#include <netcore/response.h>

/// The validators of a version of a resource; texts are borrowed.
typedef struct nc_validators {
    nc_slice etag;     // empty if absent
    nc_slice modified; // Last-Modified; empty if absent
    bool is_strong;    // one of them proves that the bytes are the same (RFC 9110, 8.8.2)
} nc_validators;

/// Properties of the file in a response's head.
typedef struct nc_download_facts {
    uint16_t status;
    bool has_range; // exactly one valid Content-Range
    nc_content_range range;
    bool claims_range; // a Content-Range in bytes, valid or not
    bool has_length;
    uint64_t length; // Content-Length
    bool is_coded;   // with a coding other than "identity"
    bool is_multipart;
    bool refuses_ranges; // Accept-Ranges: none
    nc_validators validators;
    nc_download_digests digests; // of the whole file
} nc_download_facts;

/// The request, and the stored bytes.
typedef struct nc_download_question {
    bool has_part;  // bytes are stored that are lost if the download begins again
    bool has_range; // "Range: bytes=first-last" was sent
    uint64_t first; // of the range
    uint64_t last;  // NC_LENGTH_UNKNOWN: to the end
    uint64_t held;  // contiguous bytes from the start; otherwise 0
    uint64_t total; // of the whole file, or NC_LENGTH_UNKNOWN
    bool trusts_server;
    nc_validators validators; // of the stored bytes
    nc_download_digests digests;
} nc_download_question;

typedef enum nc_download_step {
    NC_DOWNLOAD_TAKE_WHOLE, // the body is the file from its first byte
    NC_DOWNLOAD_TAKE_PART,  // the body is the requested range of the same version
    NC_DOWNLOAD_HAS_ALL,    // the stored bytes are the whole file
    NC_DOWNLOAD_ASK_WHOLE,  // not usable: request again without a range
    NC_DOWNLOAD_FAIL_RANGE, // an unrequested range
    NC_DOWNLOAD_FAIL_STATUS // not a success
} nc_download_step;

/// Reads a head. The slices are valid as long as the response's fields.
void nc_download_read_facts(nc_download_facts *out, const nc_response *response);
/// Returns true if the body is a part of the file: status 206, or another success whose Content-Range covers less than
/// the whole.
bool nc_download_is_part(const nc_download_facts *facts);
/// Returns true if a response is of the stored version.
bool nc_download_is_same_version(const nc_download_question *held, const nc_download_facts *facts);
/// Returns the next step.
nc_download_step nc_download_decide(const nc_download_question *question, const nc_download_facts *facts);
/// Returns true if a partial file with these validators may be resumed.
bool nc_download_may_resume(const nc_validators *validators, bool trusts_server);
/// Returns the value of If-Range; empty if no validator is suitable.
nc_slice nc_download_if_range(const nc_validators *validators);

#endif
