#include "net/download_decide.h"

#include "body/coding_list.h"

#include <curl/curl.h>
#include <string.h>

/// A Last-Modified that is this much older than Date is a strong validator: two changes within one second would be long
/// ago. RFC 9110, 8.8.2.2 requires a second, its predecessor a minute.
enum { STRONG_AGE_S = 60, DATE_BYTES = 64 };

/* --- reading --- */

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

static size_t count_fields(const nc_response *response, const char *name) {
    size_t count = 0;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        count += nc_slice_is_equal_ignoring_case(nc_response_header_at(response, i).name, nc_slice_of(name)) ? 1 : 0;
    }
    return count;
}

/// Every field counts, at any position.
static bool is_coded(const nc_response *response) {
    bool has_one = false;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        has_one = has_one || (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Encoding")) &&
                              !nc_coding_is_none(field.value));
    }
    return has_one;
}

/// RFC 9110, 14.4: other units are ignored.
static bool is_in_bytes(nc_slice range) {
    static const char unit[] = "bytes";
    enum { UNIT_BYTES = sizeof unit - 1 };
    bool is_long_enough = range.length > UNIT_BYTES;
    uint8_t next = is_long_enough ? range.data[UNIT_BYTES] : 0;
    return is_long_enough && (next == ' ' || next == '\t' || next == '=') &&
           nc_slice_is_equal_ignoring_case(nc_slice_make(range.data, UNIT_BYTES), nc_slice_of(unit));
}

static bool claims_range(const nc_response *response) {
    bool has_one = false;
    for (size_t i = 0; i < nc_response_header_count(response); i++) {
        nc_header field = nc_response_header_at(response, i);
        has_one = has_one || (nc_slice_is_equal_ignoring_case(field.name, nc_slice_of("Content-Range")) &&
                              is_in_bytes(field.value));
    }
    return has_one;
}

static void take_digests(nc_download_facts *out, const nc_response *response) {
    if (out->status < 200 || out->status > 299) {
        return; // They describe the error page, and a 416 has one too.
    }
    // Content-Digest covers the content that is sent, which is the file only if it is sent whole (RFC 9530, 2).
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
    nc_slice type = field_of(response, "Content-Type");
    nc_slice multipart = nc_slice_of("multipart/byteranges");
    out->is_coded = is_coded(response);
    out->is_multipart = type.length >= multipart.length &&
                        nc_slice_is_equal_ignoring_case(nc_slice_make(type.data, multipart.length), multipart);
    // Two fields would be ambiguous.
    out->has_range = count_fields(response, "Content-Range") == 1 &&
                     nc_content_range_parse(&out->range, field_of(response, "Content-Range"));
    out->claims_range = claims_range(response);
    out->has_length = nc_decimal_read(&out->length, field_of(response, "Content-Length"));
    out->refuses_ranges = nc_slice_is_equal_ignoring_case(field_of(response, "Accept-Ranges"), nc_slice_of("none"));
    out->validators.etag = field_of(response, "ETag");
    out->validators.modified = field_of(response, "Last-Modified");
    out->validators.is_strong =
        is_strong_tag(out->validators.etag) ||
        (out->validators.etag.length == 0 && is_strong_date(out->validators.modified, field_of(response, "Date")));
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
    // RFC 9110, 13.1.5: no weak tag, and a date only if it is strong.
    return validators->etag.length == 0 && validators->is_strong ? validators->modified : nc_slice_of("");
}

/// RFC 9110, 14.4 defines Content-Range only for 206 and 416. Some servers send a part with 200 all the same.
bool nc_download_is_part(const nc_download_facts *facts) {
    const nc_content_range *range = &facts->range;
    bool names_whole = facts->has_range && !range->is_unsatisfied && range->first == 0 &&
                       range->total != NC_LENGTH_UNKNOWN && range->last == range->total - 1 &&
                       (!facts->has_length || facts->is_coded || facts->length == range->total);
    bool is_success = facts->status >= 200 && facts->status < 300;
    return facts->status == 206 || (is_success && facts->claims_range && !names_whole);
}

/// A validator that only one of them has proves nothing if the server is trusted, and is not enough otherwise.
bool nc_download_is_same_version(const nc_download_question *held, const nc_download_facts *facts) {
    nc_slice old_tag = held->validators.etag;
    nc_slice old_date = held->validators.modified;
    nc_slice new_tag = facts->validators.etag;
    nc_slice new_date = facts->validators.modified;
    if (!nc_digests_agree(&held->digests, &facts->digests) ||
        (old_tag.length > 0 && new_tag.length > 0 && !nc_slice_is_equal(old_tag, new_tag)) ||
        (old_date.length > 0 && new_date.length > 0 && !nc_slice_is_equal(old_date, new_date))) {
        return false;
    }
    if (held->trusts_server) {
        return true;
    }
    if (is_strong_tag(old_tag)) {
        return new_tag.length > 0;
    }
    return held->validators.is_strong && new_date.length > 0;
}

static bool is_range_asked_for(const nc_download_question *asked, const nc_download_facts *facts) {
    const nc_content_range *range = &facts->range;
    if (!facts->has_range || range->is_unsatisfied || facts->is_multipart || range->first != asked->first ||
        range->total == NC_LENGTH_UNKNOWN) {
        return false;
    }
    uint64_t last = asked->last == NC_LENGTH_UNKNOWN ? range->total - 1 : asked->last;
    return range->last == last && (asked->total == NC_LENGTH_UNKNOWN || range->total == asked->total) &&
           (!facts->has_length || facts->length == range->last - range->first + 1);
}

/// RFC 9110, 15.5.17: valid only if the range begins after the end, and the stored bytes end at the end.
static bool has_all(const nc_download_question *asked, const nc_download_facts *facts) {
    return facts->has_range && facts->range.is_unsatisfied && asked->held > 0 && facts->range.total == asked->held &&
           asked->first >= asked->held && (asked->total == NC_LENGTH_UNKNOWN || asked->total == asked->held);
}

/// A 416 need not name the version. If it does, the version must match.
static bool contradicts(const nc_download_question *held, const nc_download_facts *facts) {
    nc_slice tag = facts->validators.etag;
    nc_slice date = facts->validators.modified;
    return (tag.length > 0 && held->validators.etag.length > 0 && !nc_slice_is_equal(tag, held->validators.etag)) ||
           (date.length > 0 && held->validators.modified.length > 0 &&
            !nc_slice_is_equal(date, held->validators.modified));
}

/// A response without content (204), about progress (202) or changed by a proxy (203) must not destroy stored bytes. If
/// none are stored, the caller gets what the server sent.
static bool is_file(const nc_download_question *asked, uint16_t status) {
    bool holds = asked->has_part || asked->has_range;
    return status == 200 || (status > 200 && status < 300 && !holds);
}

/// The same version has the same total length, and is not shorter than the stored bytes.
static bool has_wrong_length(const nc_download_question *asked, const nc_download_facts *facts) {
    if (!facts->has_length || facts->is_coded || !nc_download_is_same_version(asked, facts)) {
        return false;
    }
    return asked->total != NC_LENGTH_UNKNOWN ? facts->length != asked->total : facts->length < asked->held;
}

nc_download_step nc_download_decide(const nc_download_question *asked, const nc_download_facts *facts) {
    if (nc_download_is_part(facts) && !asked->has_range) {
        return NC_DOWNLOAD_FAIL_RANGE;
    }
    if (nc_download_is_part(facts)) {
        bool is_good =
            !facts->is_coded && is_range_asked_for(asked, facts) && nc_download_is_same_version(asked, facts);
        return is_good ? NC_DOWNLOAD_TAKE_PART : NC_DOWNLOAD_ASK_WHOLE;
    }
    if (facts->status == 416 && asked->has_range) {
        return has_all(asked, facts) && !contradicts(asked, facts) ? NC_DOWNLOAD_HAS_ALL : NC_DOWNLOAD_ASK_WHOLE;
    }
    if (facts->status == 200 && asked->has_range && has_wrong_length(asked, facts)) {
        return NC_DOWNLOAD_ASK_WHOLE;
    }
    return is_file(asked, facts->status) ? NC_DOWNLOAD_TAKE_WHOLE : NC_DOWNLOAD_FAIL_STATUS;
}
