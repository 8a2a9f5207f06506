#include "http/host_list.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "text/host.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

/// 9999-12-31 23:59:59, the last date in a file.
static const int64_t latest_s = INT64_C(253402300799);

/* --- sites --- */

static void free_sites(nc_site_counts *counts) {
    for (size_t i = 0; i < counts->count; i++) {
        nc_free(counts->sites[i]);
    }
    nc_free(counts->sites);
    *counts = (nc_site_counts){0};
}

static int compare(const nc_site *site, nc_slice name) {
    size_t shared = site->length < name.length ? site->length : name.length;
    int order = shared > 0 ? memcmp(site->name, name.data, shared) : 0;
    return order != 0 ? order : (site->length > name.length) - (site->length < name.length);
}

/// Returns the index of a site in the sorted table. If it is not there, returns the index where it must be inserted.
static size_t find(const nc_site_counts *counts, nc_slice name, bool *is_found) {
    size_t low = 0;
    size_t high = counts->count;
    *is_found = false;
    while (low < high && !*is_found) {
        size_t middle = low + (high - low) / 2;
        int order = compare(counts->sites[middle], name);
        *is_found = order == 0;
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return high;
}

static bool grow_sites(nc_site_counts *counts) {
    if (counts->count < counts->capacity) {
        return true;
    }
    size_t capacity = counts->capacity > 0 ? counts->capacity * 2 : 8;
    nc_site **sites = nc_realloc(counts->sites, capacity * sizeof(nc_site *));
    if (sites != NULL) {
        counts->sites = sites;
        counts->capacity = capacity;
    }
    return sites != NULL;
}

static nc_site *add_to_site(nc_site_counts *counts, nc_slice host) {
    bool is_found;
    nc_slice name = nc_registrable_domain(host);
    size_t at = find(counts, name, &is_found);
    if (is_found) {
        counts->sites[at]->count++;
        return counts->sites[at];
    }
    nc_site *site = name.length <= UINT16_MAX && grow_sites(counts) ? nc_alloc(sizeof *site + name.length) : NULL;
    if (site == NULL) {
        return NULL;
    }
    site->count = 1;
    site->length = (uint16_t)name.length;
    if (name.length > 0) {
        memcpy(site->name, name.data, name.length);
    }
    memmove(counts->sites + at + 1, counts->sites + at, (counts->count - at) * sizeof(nc_site *));
    counts->sites[at] = site;
    counts->count++;
    return site;
}

static void remove_from_site(nc_site_counts *counts, nc_site *site) {
    bool is_found;
    if (--site->count > 0) {
        return;
    }
    size_t at = find(counts, nc_slice_make(site->name, site->length), &is_found);
    counts->count--;
    memmove(counts->sites + at, counts->sites + at + 1, (counts->count - at) * sizeof(nc_site *));
    nc_free(site);
}

static const nc_site *largest_of(const nc_site_counts *counts) {
    const nc_site *largest = NULL;
    for (size_t i = 0; i < counts->count; i++) {
        largest = largest == NULL || counts->sites[i]->count > largest->count ? counts->sites[i] : largest;
    }
    return largest;
}

/* --- the list --- */

void nc_host_list_deinit(nc_host_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        nc_free(list->entries[i]);
    }
    nc_free(list->entries);
    free_sites(&list->sites);
    *list = (nc_host_list){0};
}

void nc_host_list_remove(nc_host_list *list, size_t index) {
    remove_from_site(&list->sites, list->entries[index]->site);
    nc_free(list->entries[index]);
    list->count--;
    memmove(list->entries + index, list->entries + index + 1, (list->count - index) * sizeof(nc_host_entry *));
}

/// Returns the index of the entry that expires first. Searches one site, or all sites if `site` is NULL.
static size_t earliest_expiry(const nc_host_list *list, const nc_site *site) {
    size_t first = list->count;
    for (size_t i = 0; i < list->count; i++) {
        bool is_candidate = site == NULL || list->entries[i]->site == site;
        if (is_candidate && (first == list->count || list->entries[i]->until_s < list->entries[first]->until_s)) {
            first = i;
        }
    }
    return first;
}

/// Returns false if the list must refuse the host. Otherwise sets `victim` to the site that loses an entry, or to NULL
/// if there is room.
static bool find_victim(const nc_site **victim, const nc_host_list *list, nc_slice host, nc_site_limits limits) {
    bool is_found;
    size_t at = find(&list->sites, nc_registrable_domain(host), &is_found);
    const nc_site *own = is_found ? list->sites.sites[at] : NULL;
    *victim = own;
    if (own != NULL && own->count >= limits.per_site) {
        return true;
    }
    if (list->count < limits.total) {
        *victim = NULL;
        return true;
    }
    const nc_site *largest = largest_of(&list->sites);
    if (own == NULL || own->count < largest->count) {
        *victim = largest;
    }
    return own != NULL || largest->count > 1;
}

static bool grow(nc_host_list *list) {
    if (list->count < list->capacity) {
        return true;
    }
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 8;
    nc_host_entry **entries = nc_realloc(list->entries, capacity * sizeof(nc_host_entry *));
    if (entries != NULL) {
        list->entries = entries;
        list->capacity = capacity;
    }
    return entries != NULL;
}

nc_host_outcome nc_host_list_make_room(nc_host_list *list, nc_slice host, nc_site_limits limits, int64_t now_s) {
    const nc_site *victim;
    if (list->count >= limits.total) {
        size_t first = earliest_expiry(list, NULL);
        if (list->entries[first]->until_s <= now_s) {
            nc_host_list_remove(list, first);
        }
    }
    if (!find_victim(&victim, list, host, limits)) {
        return NC_HOST_REFUSED;
    }
    if (victim != NULL) {
        nc_host_list_remove(list, earliest_expiry(list, victim));
    }
    return grow(list) ? NC_HOST_TAKEN : NC_HOST_NO_MEMORY;
}

bool nc_host_list_insert(nc_host_list *list, size_t index, const nc_host_entry *entry, size_t bytes, nc_slice host) {
    nc_host_entry *copy = nc_alloc(bytes);
    nc_site *site = copy != NULL ? add_to_site(&list->sites, host) : NULL;
    if (site == NULL) {
        nc_free(copy);
        return false;
    }
    memcpy(copy, entry, bytes);
    copy->site = site;
    nc_host_entry_stamp(copy);
    memmove(list->entries + index + 1, list->entries + index, (list->count - index) * sizeof(nc_host_entry *));
    list->entries[index] = copy;
    list->count++;
    return true;
}

void nc_host_entry_stamp(nc_host_entry *entry) {
    struct tm parts = {0};
    time_t at = (time_t)(entry->until_s < latest_s ? entry->until_s : latest_s);
    (void)gmtime_r(&at, &parts);
    if (entry->until_s == INT64_MAX) {
        (void)snprintf(entry->stamp, sizeof entry->stamp, "unlimited");
    } else {
        (void)snprintf(entry->stamp, sizeof entry->stamp, "%04d%02d%02d %02d:%02d:%02d", (parts.tm_year + 1900) % 10000,
                       parts.tm_mon + 1, parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
    }
}

/* --- as text --- */

enum { DATE_BYTES = 17 };

bool nc_list_text_take(nc_slice *line, nc_slice *text, size_t *number) {
    while (text->length > 0) {
        const uint8_t *end = memchr(text->data, '\n', text->length);
        size_t length = end != NULL ? (size_t)(end - text->data) : text->length;
        size_t used = length + (end != NULL ? 1 : 0);
        *line = nc_ascii_trim(nc_slice_make(text->data, length));
        *text = nc_slice_make(text->data + used, text->length - used);
        ++*number;
        if (line->length > 0 && line->data[0] != '#') {
            return true;
        }
    }
    return false;
}

bool nc_list_date_read(int64_t *at_s, nc_slice text) {
    static const char form[] = "dddddddd dd:dd:dd";
    static const uint8_t field_of[DATE_BYTES] = {0, 0, 0, 0, 1, 1, 2, 2, 9, 3, 3, 9, 4, 4, 9, 5, 5};
    int fields[6] = {0};
    if (text.length != DATE_BYTES) {
        return false;
    }
    for (size_t i = 0; i < DATE_BYTES; i++) {
        if (form[i] != 'd' ? text.data[i] != form[i] : !nc_ascii_is_digit(text.data[i])) {
            return false;
        }
        if (form[i] == 'd') {
            fields[field_of[i]] = fields[field_of[i]] * 10 + (text.data[i] - '0');
        }
    }
    struct tm parts = {.tm_year = fields[0] - 1900,
                       .tm_mon = fields[1] - 1,
                       .tm_mday = fields[2],
                       .tm_hour = fields[3],
                       .tm_min = fields[4],
                       .tm_sec = fields[5]};
    *at_s = timegm(&parts);
    return fields[1] >= 1 && fields[1] <= 12 && fields[2] >= 1 && fields[2] <= 31 && fields[3] < 24 && fields[4] < 60 &&
           fields[5] < 60;
}

/* --- field values --- */

nc_slice nc_field_take(nc_slice *left, uint8_t separator) {
    bool is_quoted = false;
    size_t length = 0;
    while (length < left->length && (is_quoted || left->data[length] != separator)) {
        is_quoted = is_quoted != (left->data[length] == '"');
        length++;
    }
    nc_slice taken = nc_slice_make(left->data, length);
    size_t used = length < left->length ? length + 1 : length;
    *left = nc_slice_make(left->data + used, left->length - used);
    return taken;
}

nc_slice nc_field_unquote(nc_slice text) {
    bool is_quoted = text.length >= 2 && text.data[0] == '"' && text.data[text.length - 1] == '"';
    return is_quoted ? nc_slice_make(text.data + 1, text.length - 2) : text;
}

bool nc_field_seconds(int64_t *out_s, nc_slice text, int64_t max_s) {
    nc_slice digits = nc_field_unquote(text);
    int64_t number = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (!nc_ascii_is_digit(digits.data[i])) {
            return false;
        }
        number = number > max_s / 10 ? max_s : number * 10 + (digits.data[i] - '0');
    }
    *out_s = number < max_s ? number : max_s;
    return digits.length > 0;
}
