#include "request/resume_rules.h"

#include "base/ascii.h"

#include <curl/curl.h>
#include <netcore/body_source.h>
#include <netcore/content_range.h>
#include <string.h>

/// A Last-Modified that is at least STRONG_AGE_S older than Date is a strong validator: the resource cannot have
/// changed again within the same second. RFC 9110, 8.8.2.2 requires one second; RFC 7232 required a minute.
enum { STRONG_AGE_S = 60, DATE_BYTES = 64 };

/* --- digests --- */

/// Reads the value of a member: base64 between colons if `is_structured` (RFC 9651, 3.3.5), otherwise base64, or the
/// hexadecimal digits that some servers send.
static bool read_digest(uint8_t *out, size_t length, nc_slice value, bool is_structured) {
    nc_buf bytes = nc_buf_init(NC_DIGEST_MAX_BYTES + 4);
    if (is_structured) {
        if (value.length < 2 || value.data[0] != ':' || value.data[value.length - 1] != ':') {
            return false;
        }
        value = nc_slice_make(value.data + 1, value.length - 2);
    }
    bool is_hex = !is_structured && value.length == 2 * length;
    nc_status status = is_hex ? nc_hex_decode(&bytes, value, NULL) : nc_base64_decode(&bytes, value, NC_BASE64, NULL);
    bool is_read = status == NC_OK && bytes.length == length;
    if (is_read) {
        memcpy(out, bytes.data, length);
    }
    nc_buf_deinit(&bytes);
    return is_read;
}

void nc_digests_take(nc_download_digests *digests, nc_slice field, bool is_structured) {
    while (field.length > 0) {
        nc_slice member = field;
        nc_slice name;
        if (!nc_slice_cut(&member, &field, ',')) {
            field.length = 0;
        }
        nc_slice value = nc_ascii_trim(member);
        nc_slice rest;
        if (!nc_slice_cut(&name, &value, '=')) {
            continue;
        }
        name = nc_ascii_trim(name);
        if (nc_slice_cut(&rest, &value, ';')) {
            value = rest; // The parameters of the member are ignored.
        }
        value = nc_ascii_trim(value);
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("sha-256"))) {
            digests->has_sha256 =
                read_digest(digests->sha256, NC_SHA256_BYTES, value, is_structured) || digests->has_sha256;
        } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("md5"))) {
            digests->has_md5 = read_digest(digests->md5, NC_MD5_BYTES, value, is_structured) || digests->has_md5;
        }
    }
}

bool nc_digests_agree(const nc_download_digests *a, const nc_download_digests *b) {
    bool has_sha256 = a->has_sha256 && b->has_sha256;
    bool has_md5 = a->has_md5 && b->has_md5;
    return (!has_sha256 || memcmp(a->sha256, b->sha256, NC_SHA256_BYTES) == 0) &&
           (!has_md5 || memcmp(a->md5, b->md5, NC_MD5_BYTES) == 0);
}

/* --- facts of a response --- */

static nc_slice field_of(const nc_response *response, const char *name) {
    nc_slice value = {0};
    (void)nc_response_find_header(response, nc_slice_of(name), &value);
    return value;
}

static bool read_date(time_t *out, nc_slice text) {
    char copy[DATE_BYTES];
    if (text.length == 0 || text.length >= sizeof copy) {
        return false;
    }
    memcpy(copy, text.data, text.length);
    copy[text.length] = '\0';
    *out = curl_getdate(copy, NULL);
    return *out != (time_t)-1;
}

static bool is_strong_tag(nc_slice tag) {
    return tag.length >= 2 && tag.data[0] == '"' && tag.data[tag.length - 1] == '"';
}

static bool is_strong_date(nc_slice modified, nc_slice date) {
    time_t changed;
    time_t now;
    return read_date(&changed, modified) && read_date(&now, date) && changed <= now - STRONG_AGE_S;
}

bool nc_validators_are_strong(nc_slice etag, nc_slice modified, nc_slice date) {
    return etag.length > 0 ? is_strong_tag(etag) : is_strong_date(modified, date);
}

static void take_digests(nc_download_facts *out, const nc_response *response) {
    if (out->status < 200 || out->status > 299) {
        return; // The digests are those of an error page.
    }
    // Content-Digest is the digest of the content that is sent, which is the file only if the whole file is sent (RFC
    // 9530, 2).
    bool is_whole = !nc_download_is_part(out);
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Repr-Digest")) ||
            (is_whole && nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Digest")))) {
            nc_digests_take(&out->digests, field.value, true);
        } else if (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Digest"))) {
            nc_digests_take(&out->digests, field.value, false);
        }
    }
}

void nc_download_read_facts(nc_download_facts *out, const nc_response *response) {
    *out = (nc_download_facts){.status = nc_response_status(response)};
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_body_extent_take(&out->extent, nc_response_header_at(response, i));
    }
    nc_slice type = field_of(response, "Content-Type");
    nc_slice multipart = nc_slice_of("multipart/byteranges");
    out->is_multipart = type.length >= multipart.length &&
                        nc_slice_is_equal_ignoring_case(nc_slice_make(type.data, multipart.length), multipart);
    out->refuses_ranges = nc_slice_is_equal_ignoring_case(field_of(response, "Accept-Ranges"), nc_slice_of("none"));
    out->validators.etag = field_of(response, "ETag");
    out->validators.modified = field_of(response, "Last-Modified");
    out->validators.is_strong =
        nc_validators_are_strong(out->validators.etag, out->validators.modified, field_of(response, "Date"));
    take_digests(out, response);
}

/* --- deciding --- */

bool nc_download_may_resume(const nc_validators *validators, bool trusts_server) {
    return validators->is_strong || trusts_server;
}

nc_slice nc_download_if_range(const nc_validators *validators) {
    if (is_strong_tag(validators->etag)) {
        return validators->etag;
    }
    // RFC 9110, 13.1.5: a weak tag is not allowed, and a date only if it is strong.
    return validators->etag.length == 0 && validators->is_strong ? validators->modified : nc_slice_of("");
}

bool nc_download_is_part(const nc_download_facts *facts) {
    return nc_body_extent_is_part(facts->status, &facts->extent);
}

/// A validator that only the stored bytes or only the response has is ignored if the server is trusted. Otherwise the
/// response must have a validator that proves the version.
bool nc_download_is_same_version(const nc_resume_state *state, const nc_download_facts *facts) {
    nc_slice old_tag = state->validators.etag;
    nc_slice old_date = state->validators.modified;
    nc_slice new_tag = facts->validators.etag;
    nc_slice new_date = facts->validators.modified;
    if (!nc_digests_agree(&state->digests, &facts->digests) ||
        (old_tag.length > 0 && new_tag.length > 0 && !nc_slice_is_equal(old_tag, new_tag)) ||
        (old_date.length > 0 && new_date.length > 0 && !nc_slice_is_equal(old_date, new_date))) {
        return false;
    }
    if (state->trusts_server) {
        return true;
    }
    if (is_strong_tag(old_tag)) {
        return new_tag.length > 0;
    }
    return state->validators.is_strong && new_date.length > 0;
}

static bool is_requested_range(const nc_resume_state *state, const nc_download_facts *facts) {
    const nc_content_range *range = &facts->extent.range;
    if (!facts->extent.has_range || range->is_unsatisfied || facts->is_multipart || range->first != state->first ||
        range->total == NC_LENGTH_UNKNOWN) {
        return false;
    }
    uint64_t last = state->last == NC_LENGTH_UNKNOWN ? range->total - 1 : state->last;
    return range->last == last && (state->total == NC_LENGTH_UNKNOWN || range->total == state->total) &&
           (!facts->extent.has_length || facts->extent.length == range->last - range->first + 1);
}

/// Returns true if a 416 (RFC 9110, 15.5.17) says that the stored bytes are the whole file: the requested range begins
/// at the end of the file or later, and the stored bytes end there.
static bool is_complete(const nc_resume_state *state, const nc_download_facts *facts) {
    return facts->extent.has_range && facts->extent.range.is_unsatisfied && state->stored_bytes > 0 &&
           facts->extent.range.total == state->stored_bytes && state->first >= state->stored_bytes &&
           (state->total == NC_LENGTH_UNKNOWN || state->total == state->stored_bytes);
}

/// Returns true if the validators of a 416 differ from those of the stored bytes. A 416 need not have validators.
static bool contradicts(const nc_resume_state *state, const nc_download_facts *facts) {
    nc_slice tag = facts->validators.etag;
    nc_slice date = facts->validators.modified;
    return (tag.length > 0 && state->validators.etag.length > 0 && !nc_slice_is_equal(tag, state->validators.etag)) ||
           (date.length > 0 && state->validators.modified.length > 0 &&
            !nc_slice_is_equal(date, state->validators.modified));
}

/// Returns true if the body of a response is the whole file. If bytes are stored, only 200 replaces them: not a
/// response without content (204), about an unfinished task (202) or changed by a proxy (203).
static bool is_file(const nc_resume_state *state, uint16_t status) {
    bool has_stored_bytes = state->has_stored_bytes || state->has_range;
    return status == 200 || (status > 200 && status < 300 && !has_stored_bytes);
}

/// Returns true if a response of the stored version has another total length, or is shorter than the stored bytes.
static bool has_wrong_length(const nc_resume_state *state, const nc_download_facts *facts) {
    if (!facts->extent.has_length || facts->extent.is_coded || !nc_download_is_same_version(state, facts)) {
        return false;
    }
    return state->total != NC_LENGTH_UNKNOWN ? facts->extent.length != state->total
                                             : facts->extent.length < state->stored_bytes;
}

nc_download_step nc_download_decide(const nc_resume_state *state, const nc_download_facts *facts) {
    if (nc_download_is_part(facts) && !state->has_range) {
        return NC_DOWNLOAD_FAIL_RANGE;
    }
    if (nc_download_is_part(facts)) {
        bool is_good =
            !facts->extent.is_coded && is_requested_range(state, facts) && nc_download_is_same_version(state, facts);
        return is_good ? NC_DOWNLOAD_TAKE_PART : NC_DOWNLOAD_REQUEST_WHOLE;
    }
    if (facts->status == 416 && state->has_range) {
        return is_complete(state, facts) && !contradicts(state, facts) ? NC_DOWNLOAD_IS_COMPLETE
                                                                       : NC_DOWNLOAD_REQUEST_WHOLE;
    }
    if (facts->status == 200 && state->has_range && has_wrong_length(state, facts)) {
        return NC_DOWNLOAD_REQUEST_WHOLE;
    }
    return is_file(state, facts->status) ? NC_DOWNLOAD_TAKE_WHOLE : NC_DOWNLOAD_FAIL_STATUS;
}
