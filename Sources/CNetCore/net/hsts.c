#include "net/hsts.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "net/field_text.h"
#include "net/list_text.h"

#include <netcore/hooks.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME_BYTES = 253 };

/// Each response repeats the field. A change of the expiry by less than this, and by less than a hundredth of the
/// remaining time, is not worth a write.
static const int64_t slight_s = 3600;
enum { SLIGHT_PARTS = 100 };
/// Expiry of a host that is stored without end.
static const int64_t forever_s = INT64_MAX;
/// Upper limit of max-age (a hundred years), so that no sum overflows.
static const int64_t longest_s = (int64_t)100 * 366 * 86400;

struct nc_strict_host {
    int64_t until_s;
    bool covers_below;
    nc_site *site;                  // of a list entry
    char stamp[NC_LIST_DATE_BYTES]; // its expiry as text, for the file
    size_t length;
    char name[MAX_NAME_BYTES + 1]; // allocated only as long as the name
};

void nc_hsts_deinit(nc_hsts *list) {
    for (size_t i = 0; i < list->count; i++) {
        nc_free(list->hosts[i]);
    }
    nc_free(list->hosts);
    nc_site_counts_deinit(&list->sites);
    *list = (nc_hsts){0};
}

/* --- names --- */

/// Returns true if the last label is a number: such a host is an IPv4 address in some spelling.
static bool is_address(nc_slice host) {
    size_t at = host.length;
    while (at > 0 && host.data[at - 1] != '.') {
        at--;
    }
    if (host.length > at + 1 && host.data[at] == '0' && nc_ascii_lower(host.data[at + 1]) == 'x') {
        return true;
    }
    while (at < host.length && nc_ascii_is_digit(host.data[at])) {
        at++;
    }
    return at == host.length;
}

/// Takes the host of an authority in lower case, without final dot. Returns false for addresses and invalid names.
static bool take_name(nc_strict_host *out, nc_slice authority) {
    nc_slice host = authority;
    for (size_t i = 0; i < authority.length; i++) {
        if (authority.data[i] == ':') {
            host.length = i;
            break;
        }
    }
    host.length -= host.length > 0 && host.data[host.length - 1] == '.' ? 1 : 0;
    if (host.length == 0 || host.length > MAX_NAME_BYTES || is_address(host)) {
        return false;
    }
    for (size_t i = 0; i < host.length; i++) {
        uint8_t c = nc_ascii_lower(host.data[i]);
        bool is_dot = c == '.' && i > 0 && out->name[i - 1] != '.';
        if (!nc_ascii_is_alpha(c) && !nc_ascii_is_digit(c) && c != '-' && c != '_' && !is_dot) {
            return false;
        }
        out->name[i] = (char)c;
    }
    out->name[host.length] = '\0';
    out->length = host.length;
    return true;
}

/* --- the list --- */

/// Returns the index where a name is, or would be inserted.
static size_t place_of(const nc_hsts *list, const char *name, bool *is_there) {
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(list->hosts[middle]->name, name);
        if (order == 0) {
            *is_there = true;
            return middle;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    *is_there = false;
    return low;
}

static void remove_at(nc_hsts *list, size_t place) {
    nc_site_counts_remove(&list->sites, list->hosts[place]->site);
    nc_free(list->hosts[place]);
    list->count--;
    memmove(list->hosts + place, list->hosts + place + 1, (list->count - place) * sizeof *list->hosts);
}

/// Returns the entry that expires first: of a site, or of all sites if that is NULL.
static size_t first_to_end(const nc_hsts *list, const nc_site *site) {
    size_t first = list->count;
    for (size_t i = 0; i < list->count; i++) {
        bool is_candidate = site == NULL || list->hosts[i]->site == site;
        if (is_candidate && (first == list->count || list->hosts[i]->until_s < list->hosts[first]->until_s)) {
            first = i;
        }
    }
    return first;
}

/// Makes room for a new host. Returns false if that is not possible.
static bool make_way(nc_hsts *list, nc_slice name, int64_t now_s) {
    static const nc_site_limits limits = {NC_HSTS_MAX_HOSTS, NC_HSTS_MAX_PER_SITE};
    if (list->count >= NC_HSTS_MAX_HOSTS) {
        size_t first = first_to_end(list, NULL);
        if (list->hosts[first]->until_s <= now_s) {
            remove_at(list, first);
        }
    }
    const nc_site *victim;
    nc_site_room room = nc_site_counts_make_room(&list->sites, name, list->count, limits, &victim);
    if (room == NC_SITE_ROOM_OF_VICTIM) {
        remove_at(list, first_to_end(list, victim));
    }
    return room != NC_SITE_ROOM_IS_REFUSED;
}

static bool grow(nc_hsts *list) {
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 8;
    nc_strict_host **hosts =
        list->count < list->capacity ? list->hosts : nc_realloc(list->hosts, capacity * sizeof *hosts);
    if (hosts == NULL) {
        return false;
    }
    list->capacity = list->count < list->capacity ? list->capacity : capacity;
    list->hosts = hosts;
    return true;
}

/// The list is written on the event loop thread, so dates are formatted when they change.
static void stamp(nc_strict_host *entry) {
    if (entry->until_s == forever_s) {
        (void)snprintf(entry->stamp, sizeof entry->stamp, "unlimited");
    } else {
        nc_list_date_write(entry->stamp, entry->until_s);
    }
}

static bool insert(nc_hsts *list, const nc_strict_host *host) {
    bool is_there;
    size_t place = place_of(list, host->name, &is_there);
    nc_strict_host *entry = grow(list) ? nc_alloc(offsetof(nc_strict_host, name) + host->length + 1) : NULL;
    nc_site *site = entry != NULL ? nc_site_counts_add(&list->sites, nc_slice_make(host->name, host->length)) : NULL;
    if (site == NULL) {
        nc_free(entry);
        return false;
    }
    memcpy(entry, host, offsetof(nc_strict_host, name) + host->length + 1);
    entry->site = site;
    stamp(entry);
    memmove(list->hosts + place + 1, list->hosts + place, (list->count - place) * sizeof *list->hosts);
    list->hosts[place] = entry;
    list->count++;
    return true;
}

typedef enum outcome { TAKEN, REFUSED, NO_MEMORY } outcome;

/// Stores `host` in the list.
static outcome put(nc_hsts *list, const nc_strict_host *host, int64_t now_s) {
    bool is_there;
    size_t place = place_of(list, host->name, &is_there);
    if (is_there) {
        list->hosts[place]->until_s = host->until_s;
        list->hosts[place]->covers_below = host->covers_below;
        stamp(list->hosts[place]);
        return TAKEN;
    }
    if (!make_way(list, nc_slice_make(host->name, host->length), now_s)) {
        return REFUSED;
    }
    return insert(list, host) ? TAKEN : NO_MEMORY;
}

bool nc_hsts_covers(const nc_hsts *list, nc_slice authority, int64_t now_s) {
    nc_strict_host asked;
    if (list->count == 0 || !take_name(&asked, authority)) {
        return false;
    }
    for (const char *name = asked.name;;) {
        bool is_there;
        size_t place = place_of(list, name, &is_there);
        if (is_there && list->hosts[place]->until_s > now_s &&
            (name == asked.name || list->hosts[place]->covers_below)) {
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
        nc_slice name = nc_field_trim(nc_field_take(&value, '='));
        value = nc_field_trim(value);
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("max-age"))) {
            if (has_age || !nc_field_seconds(age_s, value, longest_s)) {
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

bool nc_hsts_note(nc_hsts *list, nc_slice authority, nc_slice field, int64_t now_s) {
    nc_strict_host host = {0};
    int64_t age_s = 0;
    bool is_there;
    if (!take_name(&host, authority) || !read_field(&age_s, &host.covers_below, field)) {
        return false;
    }
    size_t place = place_of(list, host.name, &is_there);
    if (age_s == 0) {
        if (is_there) {
            remove_at(list, place);
        }
        return is_there;
    }
    host.until_s = now_s + age_s;
    if (is_there && list->hosts[place]->covers_below == host.covers_below) {
        int64_t moved_s = host.until_s - list->hosts[place]->until_s;
        if (moved_s >= 0 && moved_s < slight_s && moved_s * SLIGHT_PARTS <= age_s) {
            return false;
        }
    }
    return put(list, &host, now_s) == TAKEN;
}

/// Returns where an authority that ends at `end` ends without ":80", in every spelling of that number.
static size_t without_port_80(nc_slice url, size_t end) {
    if (end < 3 || memcmp(url.data + end - 2, "80", 2) != 0) {
        return end;
    }
    size_t at = end - 2;
    while (at > 0 && url.data[at - 1] == '0') {
        at--;
    }
    return at > 0 && url.data[at - 1] == ':' ? at - 1 : end;
}

void nc_hsts_upgrade(nc_buf *out, nc_slice url) {
    enum { SCHEME = 4 }; // "http"
    size_t end = SCHEME + 3;
    while (end < url.length && memchr("/?#", url.data[end], 3) == NULL) {
        end++;
    }
    size_t kept = without_port_80(url, end);
    nc_buf_append(out, nc_slice_of("https"));
    nc_buf_append(out, nc_slice_make(url.data + SCHEME, kept - SCHEME));
    nc_buf_append(out, nc_slice_make(url.data + end, url.length - end));
}

/* --- as text --- */

static bool read_line(nc_strict_host *host, nc_slice line) {
    nc_slice when = line;
    nc_slice name = nc_field_take(&when, ' ');
    when = nc_field_trim(when);
    if (when.length < 2 || when.data[0] != '"' || when.data[when.length - 1] != '"') {
        return false;
    }
    when = nc_field_unquote(when);
    host->covers_below = name.length > 0 && name.data[0] == '.';
    if (host->covers_below) {
        name = nc_slice_make(name.data + 1, name.length - 1);
    }
    if (nc_slice_is_equal(when, nc_slice_of("unlimited"))) {
        host->until_s = forever_s;
    } else if (!nc_list_date_read(&host->until_s, when)) {
        return false;
    }
    return memchr(name.data, ':', name.length) == NULL && take_name(host, name);
}

nc_status nc_hsts_read(nc_hsts *list, nc_slice text, int64_t now_s, size_t *number) {
    nc_slice line;
    for (*number = 0; nc_list_text_take(&line, &text, number);) {
        nc_strict_host host = {0};
        if (!read_line(&host, line)) {
            return NC_ERR_FILE;
        }
        if (host.until_s > now_s && put(list, &host, now_s) == NO_MEMORY) {
            return NC_ERR_NO_MEMORY;
        }
    }
    return NC_OK;
}

void nc_hsts_write(const nc_hsts *list, nc_buf *out, int64_t now_s) {
    nc_buf_append(out, nc_slice_of("# Hosts that asked for https alone (RFC 6797), in curl's format.\n"
                                   "# Written by NetKit; changes made here are lost.\n"));
    for (size_t i = 0; i < list->count; i++) {
        const nc_strict_host *host = list->hosts[i];
        if (host->until_s <= now_s) {
            continue;
        }
        nc_buf_append(out, nc_slice_of(host->covers_below ? "." : ""));
        nc_buf_append(out, nc_slice_make(host->name, host->length));
        nc_buf_append(out, nc_slice_of(" \""));
        nc_buf_append(out, nc_slice_of(host->stamp));
        nc_buf_append(out, nc_slice_of("\"\n"));
    }
}
