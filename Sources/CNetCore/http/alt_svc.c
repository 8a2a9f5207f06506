#include "http/alt_svc.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "http/host_list.h"
#include "text/host.h"

#include <netcore/hooks.h>
#include <stdio.h>
#include <string.h>

/// The default of ma: one day (RFC 7838, 3.1).
static const int64_t default_max_age_s = 86400;
/// Upper limit of ma (a hundred years), so that no sum overflows.
static const int64_t max_max_age_s = (int64_t)100 * 366 * 86400;
/// Servers repeat the field in each response, which moves the expiry slightly. If the expiry moves by less than
/// `max_unrecorded_shift_s` and by less than 1/UNRECORDED_SHIFT_PARTS of the remaining time, the list does not change.
static const int64_t max_unrecorded_shift_s = 60;
enum { UNRECORDED_SHIFT_PARTS = 4 };

void nc_alt_svc_deinit(nc_alt_svc *list) {
    nc_host_list_deinit(list);
}

/* --- hosts and ports --- */

bool nc_alt_svc_endpoint_make(nc_alt_svc_endpoint *out, nc_slice host, uint16_t port) {
    nc_canonical_host read;
    bool is_host = port != 0 && nc_host_read(&read, host, NULL) == NC_OK;
    // libcurl cannot connect to an alternative that is an IPv6 address with a zone.
    if (!is_host || memchr(read.text.data, '%', read.text.length) != NULL) {
        return false;
    }
    bool is_ipv6 = read.kind == NC_HOST_IPV6;
    *out = (nc_alt_svc_endpoint){.port = port};
    (void)snprintf(out->host, sizeof out->host, "%s%.*s%s", is_ipv6 ? "[" : "", (int)read.text.length,
                   (const char *)read.text.data, is_ipv6 ? "]" : "");
    return true;
}

static bool is_equal(const nc_alt_svc_endpoint *one, const nc_alt_svc_endpoint *other) {
    return one->port == other->port && strcmp(one->host, other->host) == 0;
}

static bool read_port(uint16_t *out, nc_slice digits) {
    uint32_t number = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (!nc_ascii_is_digit(digits.data[i]) || number > UINT16_MAX) {
            return false;
        }
        number = number * 10 + (uint32_t)(digits.data[i] - '0');
    }
    *out = (uint16_t)number;
    return number > 0 && number <= UINT16_MAX;
}

/* --- the list --- */

static int compare(const nc_alt_svc_endpoint *one, const nc_alt_svc_endpoint *other) {
    int order = strcmp(one->host, other->host);
    return order != 0 ? order : (one->port > other->port) - (one->port < other->port);
}

/// The indexes of an origin's alternatives in the list: from `first` up to, but not including, `end`.
typedef struct range {
    size_t first;
    size_t end;
} range;

static range range_of(const nc_alt_svc *list, const nc_alt_svc_endpoint *origin) {
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&nc_alt_svc_at(list, middle)->origin, origin) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    range found = {low, low};
    while (found.end < list->count && is_equal(&nc_alt_svc_at(list, found.end)->origin, origin)) {
        found.end++;
    }
    return found;
}

/// Inserts an alternative after the others of its origin.
static nc_host_outcome append(nc_alt_svc *list, const nc_alternative *one, int64_t now_s) {
    static const nc_site_limits limits = {NC_ALT_SVC_MAX_TOTAL, NC_ALT_SVC_MAX_PER_SITE};
    nc_slice host = nc_slice_of(one->origin.host);
    nc_host_outcome outcome = nc_host_list_make_room(list, host, limits, now_s);
    size_t end = range_of(list, &one->origin).end;
    bool is_taken = outcome == NC_HOST_TAKEN && nc_host_list_insert(list, end, &one->entry, sizeof *one, host);
    return outcome == NC_HOST_TAKEN && !is_taken ? NC_HOST_NO_MEMORY : outcome;
}

static bool is_same_service(const nc_alternative *one, const nc_alternative *other) {
    return one->protocol == other->protocol && is_equal(&one->endpoint, &other->endpoint) &&
           is_equal(&one->origin, &other->origin);
}

bool nc_alt_svc_is_at_origin(const nc_alternative *one) {
    return is_equal(&one->endpoint, &one->origin);
}

static const nc_alternative *find(const nc_alt_svc *list, const nc_alt_svc_endpoint *origin, uint8_t protocols,
                                  int64_t now_s, bool finds_avoided) {
    range own = range_of(list, origin);
    for (size_t i = own.first; i < own.end; i++) {
        const nc_alternative *one = nc_alt_svc_at(list, i);
        // If the clock was set back, avoided_until_s may be too far in the future. It is then ignored.
        bool is_avoided = one->avoided_until_s > now_s && one->avoided_until_s <= now_s + NC_ALT_SVC_AVOIDED_S;
        if ((one->protocol & protocols) != 0 && one->entry.until_s > now_s && is_avoided == finds_avoided) {
            return one;
        }
    }
    return NULL;
}

const nc_alternative *nc_alt_svc_find(const nc_alt_svc *list, const nc_alt_svc_endpoint *origin, uint8_t protocols,
                                      int64_t now_s) {
    return find(list, origin, protocols, now_s, false);
}

bool nc_alt_svc_is_avoided(const nc_alt_svc *list, const nc_alt_svc_endpoint *origin, uint8_t protocols,
                           int64_t now_s) {
    return find(list, origin, protocols, now_s, true) != NULL;
}

void nc_alt_svc_avoid(nc_alt_svc *list, const nc_alternative *one, int64_t now_s) {
    range own = range_of(list, &one->origin);
    for (size_t i = own.first; i < own.end; i++) {
        if (is_same_service(nc_alt_svc_at(list, i), one)) {
            nc_alt_svc_at(list, i)->avoided_until_s = now_s + NC_ALT_SVC_AVOIDED_S;
        }
    }
}

/* --- the field --- */

/// The contents of a field: its alternatives, or none for "clear".
typedef struct field_contents {
    nc_alternative items[NC_ALT_SVC_MAX_EACH];
    size_t count;
} field_contents;

/// Returns the protocol for an ALPN name; 0 if it is unknown. Accepts percent-encoded names (RFC 7838, 3) and the names
/// in libcurl's files.
static uint8_t protocol_of(nc_slice name) {
    static const struct {
        const char *name;
        uint8_t protocol;
    } known[] = {{"h2", NC_ALT_HTTP_2},
                 {"h3", NC_ALT_HTTP_3},
                 {"http%2F1.1", NC_ALT_HTTP_1_1},
                 {"http/1.1", NC_ALT_HTTP_1_1},
                 {"h1", NC_ALT_HTTP_1_1}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (nc_slice_is_equal(name, nc_slice_of(known[i].name))) {
            return known[i].protocol;
        }
    }
    return 0;
}

/// Parses `"host:port"` or `":port"`.
static bool read_authority(nc_alt_svc_endpoint *out, nc_slice text, const nc_alt_svc_endpoint *origin) {
    nc_slice inner = nc_field_unquote(text);
    size_t colon = inner.length;
    while (colon > 0 && inner.data[colon - 1] != ':') {
        colon--;
    }
    uint16_t port = 0;
    if (inner.length == text.length || colon == 0 ||
        !read_port(&port, nc_slice_make(inner.data + colon, inner.length - colon))) {
        return false;
    }
    nc_slice host = nc_slice_make(inner.data, colon - 1);
    bool is_bare_address = memchr(host.data, ':', host.length) != NULL && host.data[0] != '[';
    return !is_bare_address && nc_alt_svc_endpoint_make(out, host.length > 0 ? host : nc_slice_of(origin->host), port);
}

/// Parses one alternative and its parameters. Unknown parameters are skipped.
static bool read_alternative(nc_alternative *out, nc_slice text, const nc_alt_svc_endpoint *origin, int64_t now_s) {
    int64_t age_s = default_max_age_s;
    nc_slice authority = nc_field_take(&text, ';');
    nc_slice protocol = nc_ascii_trim(nc_field_take(&authority, '='));
    *out = (nc_alternative){.origin = *origin, .protocol = protocol_of(protocol)};
    if (protocol.length == 0 || !read_authority(&out->endpoint, nc_ascii_trim(authority), origin)) {
        return false;
    }
    while (text.length > 0) {
        nc_slice value = nc_field_take(&text, ';');
        nc_slice name = nc_ascii_trim(nc_field_take(&value, '='));
        value = nc_ascii_trim(value);
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("ma"))) {
            if (!nc_field_seconds(&age_s, value, max_max_age_s)) {
                return false;
            }
        } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("persist"))) {
            out->is_persistent = nc_slice_is_equal(nc_field_unquote(value), nc_slice_of("1"));
        }
    }
    out->entry.until_s = now_s + age_s;
    return true;
}

/// Returns true if an alternative is worth storing: its protocol is supported, the field has not too many alternatives,
/// and this one is not the origin itself, not expired, and not a duplicate of one in `before`.
static bool is_useful(const field_contents *before, const nc_alternative *one, int64_t now_s) {
    for (size_t i = 0; i < before->count; i++) {
        if (is_same_service(&before->items[i], one)) {
            return false;
        }
    }
    bool is_the_origin = one->protocol != NC_ALT_HTTP_3 && is_equal(&one->endpoint, &one->origin);
    return one->protocol != 0 && one->entry.until_s > now_s && !is_the_origin && before->count < NC_ALT_SVC_MAX_EACH;
}

static bool read_field(field_contents *out, nc_slice field, const nc_alt_svc_endpoint *origin, int64_t now_s) {
    out->count = 0;
    if (nc_slice_is_equal(nc_ascii_trim(field), nc_slice_of("clear"))) {
        return true;
    }
    bool has_any = false;
    while (field.length > 0) {
        nc_alternative one;
        nc_slice text = nc_ascii_trim(nc_field_take(&field, ','));
        if (text.length == 0) {
            continue; // RFC 9110, 5.6.1: empty list members are ignored.
        }
        if (!read_alternative(&one, text, origin, now_s)) {
            return false;
        }
        has_any = true;
        if (is_useful(out, &one, now_s)) {
            out->items[out->count++] = one;
        }
    }
    return has_any;
}

static bool is_nearly(const nc_alternative *known, const nc_alternative *said_now, int64_t now_s) {
    int64_t moved_s = said_now->entry.until_s - known->entry.until_s;
    int64_t left_s = said_now->entry.until_s - now_s;
    return is_same_service(known, said_now) && known->is_persistent == said_now->is_persistent &&
           moved_s < max_unrecorded_shift_s && moved_s > -max_unrecorded_shift_s &&
           moved_s * UNRECORDED_SHIFT_PARTS < left_s;
}

/// Returns true if the field has the same alternatives as the list has for the origin, except for slight changes of
/// the expiry.
static bool has_no_change(const nc_alt_svc *list, const field_contents *now, const nc_alt_svc_endpoint *origin,
                          int64_t now_s) {
    range own = range_of(list, origin);
    for (size_t i = own.first; i < own.end; i++) {
        size_t known = i - own.first;
        if (known == now->count || !is_nearly(nc_alt_svc_at(list, i), &now->items[known], now_s)) {
            return false;
        }
    }
    return own.end - own.first == now->count;
}

/// Removes an origin's alternatives from the list. Copies avoided_until_s to the same alternatives in `now`.
static void remove_origin(nc_alt_svc *list, field_contents *now, const nc_alt_svc_endpoint *origin) {
    range own = range_of(list, origin);
    while (own.end > own.first) {
        const nc_alternative *one = nc_alt_svc_at(list, --own.end);
        for (size_t k = 0; k < now->count; k++) {
            if (is_same_service(one, &now->items[k])) {
                now->items[k].avoided_until_s = one->avoided_until_s;
            }
        }
        nc_host_list_remove(list, own.end);
    }
}

bool nc_alt_svc_record(nc_alt_svc *list, const nc_alt_svc_endpoint *origin, nc_slice field, int64_t now_s) {
    field_contents now;
    if (!read_field(&now, field, origin, now_s) || has_no_change(list, &now, origin, now_s)) {
        return false;
    }
    size_t before = range_of(list, origin).end - range_of(list, origin).first;
    remove_origin(list, &now, origin);
    size_t taken = 0;
    while (taken < now.count && append(list, &now.items[taken], now_s) == NC_HOST_TAKEN) {
        taken++;
    }
    return before > 0 || taken > 0;
}

/* --- as text --- */

static nc_slice take_word(nc_slice *line) {
    *line = nc_ascii_trim(*line);
    return nc_field_take(line, ' ');
}

/// Reads a host and a port. libcurl writes an IPv6 address without brackets.
static bool read_endpoint(nc_alt_svc_endpoint *out, nc_slice *line) {
    nc_slice host = take_word(line);
    uint16_t port = 0;
    return read_port(&port, take_word(line)) && nc_alt_svc_endpoint_make(out, host, port);
}

static bool read_line(nc_alternative *out, nc_slice line) {
    *out = (nc_alternative){0};
    bool is_known = protocol_of(take_word(&line)) != 0 && read_endpoint(&out->origin, &line);
    out->protocol = protocol_of(take_word(&line));
    if (!is_known || out->protocol == 0 || !read_endpoint(&out->endpoint, &line)) {
        return false;
    }
    nc_slice when = take_word(&line);
    nc_slice persists = take_word(&line);
    out->is_persistent = nc_slice_is_equal(persists, nc_slice_of("1"));
    return when.length > 2 && when.data[0] == '"' && nc_list_date_read(&out->entry.until_s, nc_field_unquote(when));
}

static bool is_known(const nc_alt_svc *list, const nc_alternative *one) {
    range own = range_of(list, &one->origin);
    for (size_t i = own.first; i < own.end; i++) {
        if (is_same_service(nc_alt_svc_at(list, i), one)) {
            return true;
        }
    }
    return false;
}

nc_status nc_alt_svc_read(nc_alt_svc *list, nc_slice text, int64_t now_s, size_t *number) {
    nc_slice line;
    for (*number = 0; nc_list_text_take(&line, &text, number);) {
        nc_alternative one;
        if (!read_line(&one, line)) {
            return NC_ERR_FILE;
        }
        if (one.entry.until_s > now_s && !is_known(list, &one) && append(list, &one, now_s) == NC_HOST_NO_MEMORY) {
            return NC_ERR_NO_MEMORY;
        }
    }
    return NC_OK;
}

static const char *name_of(uint8_t protocol) {
    return protocol == NC_ALT_HTTP_3 ? "h3" : protocol == NC_ALT_HTTP_2 ? "h2" : "h1";
}

void nc_alt_svc_write(const nc_alt_svc *list, nc_buf *out, int64_t now_s) {
    nc_buf_append(out, nc_slice_of("# Alternative services of origins (RFC 7838), in curl's format.\n"
                                   "# Written by NetKit; changes made here are lost.\n"));
    for (size_t i = 0; i < list->count; i++) {
        const nc_alternative *one = nc_alt_svc_at(list, i);
        char line[2 * NC_ALT_SVC_HOST_BYTES + 96];
        if (one->entry.until_s <= now_s) {
            continue;
        }
        int length = snprintf(line, sizeof line, "h2 %s %u %s %s %u \"%s\" %d 0\n", one->origin.host,
                              (unsigned)one->origin.port, name_of(one->protocol), one->endpoint.host,
                              (unsigned)one->endpoint.port, one->entry.stamp, one->is_persistent ? 1 : 0);
        nc_buf_append(out, nc_slice_make(line, (size_t)length));
    }
}
