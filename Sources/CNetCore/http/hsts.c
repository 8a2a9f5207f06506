#include "http/hsts.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "http/host_list.h"
#include "text/host.h"

#include <netcore/hooks.h>
#include <netcore/url.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/// Each response repeats the field, which moves the expiry slightly. If the expiry moves by less than
/// `max_unrecorded_shift_s` and by at most 1/UNRECORDED_SHIFT_PARTS of the new lifetime, the list does not change, so
/// that the file need not be written.
static const int64_t max_unrecorded_shift_s = 3600;
enum { UNRECORDED_SHIFT_PARTS = 100 };
/// Expiry of a host that the file lists as "unlimited".
static const int64_t never_s = INT64_MAX;
/// Upper limit of max-age (a hundred years), so that no sum overflows.
static const int64_t max_max_age_s = (int64_t)100 * 366 * 86400;

typedef struct nc_hsts_host {
    nc_host_entry entry;
    bool covers_below;
    size_t length;
    char name[NC_HOST_MAX_BYTES + 1]; // an entry of the list has only the bytes of the name and its NUL
} nc_hsts_host;

void nc_hsts_deinit(nc_hsts *list) {
    nc_host_list_deinit(list);
}

static nc_hsts_host *host_at(const nc_hsts *list, size_t index) {
    return (nc_hsts_host *)list->entries[index];
}

/* --- names --- */

/// Sets the canonical name. Returns false for addresses, for invalid hosts, and if memory is exhausted.
static bool take_name(nc_hsts_host *out, nc_slice host) {
    nc_canonical_host read;
    if (nc_host_read(&read, host, NULL) != NC_OK || read.kind != NC_HOST_NAME) {
        return false;
    }
    memcpy(out->name, read.text.data, read.text.length);
    out->name[read.text.length] = '\0';
    out->length = read.text.length;
    return true;
}

/* --- the list --- */

/// Returns the index of a name in the list. If it is not there, returns the index where it must be inserted.
static size_t index_of(const nc_hsts *list, const char *name, bool *is_found) {
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(host_at(list, middle)->name, name);
        if (order == 0) {
            *is_found = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *is_found = false;
    return low;
}

/// Adds `host` to the list, or updates its entry.
static nc_host_outcome put(nc_hsts *list, const nc_hsts_host *host, int64_t now_s) {
    bool is_found;
    size_t index = index_of(list, host->name, &is_found);
    if (is_found) {
        host_at(list, index)->entry.until_s = host->entry.until_s;
        host_at(list, index)->covers_below = host->covers_below;
        nc_host_entry_stamp(list->entries[index]);
        return NC_HOST_TAKEN;
    }
    static const nc_site_limits limits = {NC_HSTS_MAX_HOSTS, NC_HSTS_MAX_PER_SITE};
    nc_slice name = nc_slice_make(host->name, host->length);
    nc_host_outcome outcome = nc_host_list_make_room(list, name, limits, now_s);
    size_t bytes = offsetof(nc_hsts_host, name) + host->length + 1;
    index = index_of(list, host->name, &is_found);
    bool is_taken = outcome == NC_HOST_TAKEN && nc_host_list_insert(list, index, &host->entry, bytes, name);
    return outcome == NC_HOST_TAKEN && !is_taken ? NC_HOST_NO_MEMORY : outcome;
}

bool nc_hsts_covers(const nc_hsts *list, nc_slice host, int64_t now_s) {
    nc_hsts_host asked;
    if (list->count == 0 || !take_name(&asked, host)) {
        return false;
    }
    for (const char *name = asked.name;;) {
        bool is_found;
        size_t index = index_of(list, name, &is_found);
        if (is_found && host_at(list, index)->entry.until_s > now_s &&
            (name == asked.name || host_at(list, index)->covers_below)) {
            return true;
        }
        const char *dot = strchr(name, '.');
        if (dot == NULL) {
            return false;
        }
        name = dot + 1;
    }
}

/* --- the field --- */

/// RFC 6797, 6.1: a repeated directive or a missing max-age invalidates the field; unknown directives do not.
static bool read_field(int64_t *age_s, bool *covers_below, nc_slice field) {
    bool has_age = false;
    *covers_below = false;
    while (field.length > 0) {
        nc_slice value = nc_field_take(&field, ';');
        bool has_value = memchr(value.data, '=', value.length) != NULL;
        nc_slice name = nc_ascii_trim(nc_field_take(&value, '='));
        value = nc_ascii_trim(value);
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("max-age"))) {
            if (has_age || !nc_field_seconds(age_s, value, max_max_age_s)) {
                return false;
            }
            has_age = true;
        } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("includeSubDomains"))) {
            if (*covers_below || has_value) {
                return false;
            }
            *covers_below = true;
        }
    }
    return has_age;
}

bool nc_hsts_record(nc_hsts *list, nc_slice from, nc_slice field, int64_t now_s) {
    nc_hsts_host host = {0};
    int64_t age_s = 0;
    bool is_found;
    if (!take_name(&host, from) || !read_field(&age_s, &host.covers_below, field)) {
        return false;
    }
    size_t index = index_of(list, host.name, &is_found);
    if (age_s == 0) {
        if (is_found) {
            nc_host_list_remove(list, index);
        }
        return is_found;
    }
    host.entry.until_s = now_s + age_s;
    if (is_found && host_at(list, index)->covers_below == host.covers_below) {
        int64_t moved_s = host.entry.until_s - host_at(list, index)->entry.until_s;
        if (moved_s >= 0 && moved_s < max_unrecorded_shift_s && moved_s * UNRECORDED_SHIFT_PARTS <= age_s) {
            return false;
        }
    }
    return put(list, &host, now_s) == NC_HOST_TAKEN;
}

/// Returns true for "80" in every spelling of that number.
static bool is_http_port(nc_slice digits) {
    while (digits.length > 2 && digits.data[0] == '0') {
        digits = nc_slice_make(digits.data + 1, digits.length - 1);
    }
    return nc_slice_is_equal(digits, nc_slice_of("80"));
}

void nc_hsts_upgrade(nc_buf *out, nc_slice url) {
    nc_url_parts parts = nc_url_split(url);
    size_t end = parts.scheme.length + sizeof "://" - 1 + parts.authority.length;
    size_t kept = is_http_port(parts.port) ? end - parts.port.length - 1 : end;
    nc_buf_append(out, nc_slice_of("https"));
    nc_buf_append(out, nc_slice_make(url.data + parts.scheme.length, kept - parts.scheme.length));
    nc_buf_append(out, nc_slice_make(url.data + end, url.length - end));
}

/* --- as text --- */

static bool read_line(nc_hsts_host *host, nc_slice line) {
    nc_slice when = line;
    nc_slice name = nc_field_take(&when, ' ');
    when = nc_ascii_trim(when);
    if (when.length < 2 || when.data[0] != '"' || when.data[when.length - 1] != '"') {
        return false;
    }
    when = nc_field_unquote(when);
    host->covers_below = name.length > 0 && name.data[0] == '.';
    if (host->covers_below) {
        name = nc_slice_make(name.data + 1, name.length - 1);
    }
    if (nc_slice_is_equal(when, nc_slice_of("unlimited"))) {
        host->entry.until_s = never_s;
    } else if (!nc_list_date_read(&host->entry.until_s, when)) {
        return false;
    }
    return take_name(host, name);
}

nc_status nc_hsts_read(nc_hsts *list, nc_slice text, int64_t now_s, size_t *number) {
    nc_slice line;
    for (*number = 0; nc_list_text_take(&line, &text, number);) {
        nc_hsts_host host = {0};
        if (!read_line(&host, line)) {
            return NC_ERR_FILE;
        }
        if (host.entry.until_s > now_s && put(list, &host, now_s) == NC_HOST_NO_MEMORY) {
            return NC_ERR_NO_MEMORY;
        }
    }
    return NC_OK;
}

void nc_hsts_write(const nc_hsts *list, nc_buf *out, int64_t now_s) {
    nc_buf_append(out, nc_slice_of("# Hosts that require https (HSTS, RFC 6797), in curl's format.\n"
                                   "# Written by NetKit; changes made here are lost.\n"));
    for (size_t i = 0; i < list->count; i++) {
        const nc_hsts_host *host = host_at(list, i);
        if (host->entry.until_s <= now_s) {
            continue;
        }
        nc_buf_append(out, nc_slice_of(host->covers_below ? "." : ""));
        nc_buf_append(out, nc_slice_make(host->name, host->length));
        nc_buf_append(out, nc_slice_of(" \""));
        nc_buf_append(out, nc_slice_of(host->entry.stamp));
        nc_buf_append(out, nc_slice_of("\"\n"));
    }
}
