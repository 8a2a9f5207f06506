#include "net/alt_svc.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "net/field_text.h"
#include "net/list_text.h"

#include <netcore/hooks.h>
#include <stdio.h>
#include <string.h>

/// RFC 7838, 3.1.
static const int64_t usual_s = 86400;
/// Upper limit of ma (a hundred years), so that no sum overflows.
static const int64_t longest_s = (int64_t)100 * 366 * 86400;
/// Each response repeats the entry. A change of the expiry by less than this is not worth a write, unless it is a large
/// part of the remaining time.
static const int64_t slight_s = 60;
enum { SLIGHT_PARTS = 4 };

void nc_alt_svc_deinit(nc_alt_svc *list) {
    for (size_t i = 0; i < list->count; i++) {
        nc_free(list->items[i]);
    }
    nc_free(list->items);
    nc_site_counts_deinit(&list->sites);
    *list = (nc_alt_svc){0};
}

/* --- places --- */

static bool is_of_name(uint8_t c) {
    return nc_ascii_is_alpha(c) || nc_ascii_is_digit(c) || c == '-' || c == '_' || c == '.';
}

static bool is_of_address(uint8_t c) {
    return nc_ascii_is_digit(c) || c == ':' || c == '.' || (nc_ascii_lower(c) >= 'a' && nc_ascii_lower(c) <= 'f');
}

bool nc_alt_place_make(nc_alt_place *out, nc_slice host, uint16_t port) {
    bool is_bracketed = host.length > 2 && host.data[0] == '[' && host.data[host.length - 1] == ']';
    nc_slice inner = is_bracketed ? nc_slice_make(host.data + 1, host.length - 2) : host;
    inner.length -= !is_bracketed && inner.length > 0 && inner.data[inner.length - 1] == '.' ? 1 : 0;
    if (inner.length == 0 || inner.length > NC_ALT_SVC_HOST_BYTES - 3 || port == 0) {
        return false;
    }
    *out = (nc_alt_place){.port = port};
    size_t at = 0;
    if (is_bracketed) {
        out->host[at++] = '[';
    }
    for (size_t i = 0; i < inner.length; i++) {
        bool is_dot = inner.data[i] == '.';
        bool is_empty_label = is_dot && (i == 0 || inner.data[i - 1] == '.' || i + 1 == inner.length);
        if (is_bracketed ? !is_of_address(inner.data[i]) : !is_of_name(inner.data[i]) || is_empty_label) {
            return false;
        }
        out->host[at++] = (char)nc_ascii_lower(inner.data[i]);
    }
    if (is_bracketed) {
        out->host[at] = ']';
    }
    return true;
}

static bool is_equal(const nc_alt_place *one, const nc_alt_place *other) {
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

static int compare(const nc_alt_place *one, const nc_alt_place *other) {
    int order = strcmp(one->host, other->host);
    return order != 0 ? order : (one->port > other->port) - (one->port < other->port);
}

/// The items of an origin: [first, end).
typedef struct range {
    size_t first;
    size_t end;
} range;

static range range_of(const nc_alt_svc *list, const nc_alt_place *origin) {
    size_t low = 0;
    size_t high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&list->items[middle]->origin, origin) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    range found = {low, low};
    while (found.end < list->count && is_equal(&list->items[found.end]->origin, origin)) {
        found.end++;
    }
    return found;
}

static void remove_at(nc_alt_svc *list, size_t place) {
    nc_site_counts_remove(&list->sites, list->items[place]->site);
    nc_free(list->items[place]);
    list->count--;
    memmove(list->items + place, list->items + place + 1, (list->count - place) * sizeof *list->items);
}

/// Returns the item that expires first: of a site, or of all sites if that is NULL.
static size_t first_to_end(const nc_alt_svc *list, const nc_site *site) {
    size_t first = list->count;
    for (size_t i = 0; i < list->count; i++) {
        bool is_candidate = site == NULL || list->items[i]->site == site;
        if (is_candidate && (first == list->count || list->items[i]->until_s < list->items[first]->until_s)) {
            first = i;
        }
    }
    return first;
}

/// Makes room for one more item. Returns false if that is not possible.
static bool make_way(nc_alt_svc *list, nc_slice host, int64_t now_s) {
    static const nc_site_limits limits = {NC_ALT_SVC_MAX_TOTAL, NC_ALT_SVC_MAX_PER_SITE};
    if (list->count >= NC_ALT_SVC_MAX_TOTAL) {
        size_t first = first_to_end(list, NULL);
        if (list->items[first]->until_s <= now_s) {
            remove_at(list, first);
        }
    }
    const nc_site *victim;
    nc_site_room room = nc_site_counts_make_room(&list->sites, host, list->count, limits, &victim);
    if (room == NC_SITE_ROOM_OF_VICTIM) {
        remove_at(list, first_to_end(list, victim));
    }
    return room != NC_SITE_ROOM_IS_REFUSED;
}

static bool grow(nc_alt_svc *list) {
    if (list->count < list->capacity) {
        return true;
    }
    size_t capacity = list->capacity > 0 ? list->capacity * 2 : 8;
    nc_alternative **items = nc_realloc(list->items, capacity * sizeof(nc_alternative *));
    if (items != NULL) {
        list->items = items;
        list->capacity = capacity;
    }
    return items != NULL;
}

typedef enum outcome { TAKEN, REFUSED, NO_MEMORY } outcome;

/// Appends an item to those of its origin.
static outcome append(nc_alt_svc *list, const nc_alternative *one, int64_t now_s) {
    nc_slice host = nc_slice_of(one->origin.host);
    if (!make_way(list, host, now_s)) {
        return REFUSED;
    }
    nc_alternative *copy = grow(list) ? nc_alloc(sizeof *copy) : NULL;
    nc_site *site = copy != NULL ? nc_site_counts_add(&list->sites, host) : NULL;
    if (site == NULL) {
        nc_free(copy);
        return NO_MEMORY;
    }
    *copy = *one;
    copy->site = site;
    nc_list_date_write(copy->stamp, copy->until_s); // not when the event loop thread writes the list
    size_t place = range_of(list, &one->origin).end;
    memmove(list->items + place + 1, list->items + place, (list->count - place) * sizeof(nc_alternative *));
    list->items[place] = copy;
    list->count++;
    return TAKEN;
}

static bool is_same_service(const nc_alternative *one, const nc_alternative *other) {
    return one->protocol == other->protocol && is_equal(&one->place, &other->place) &&
           is_equal(&one->origin, &other->origin);
}

const nc_alternative *nc_alt_svc_find(const nc_alt_svc *list, const nc_alt_place *origin, uint8_t protocols,
                                      int64_t now_s) {
    range own = range_of(list, origin);
    for (size_t i = own.first; i < own.end; i++) {
        const nc_alternative *one = list->items[i];
        // After the clock was set back, the entry would otherwise be avoided for longer.
        bool is_avoided = one->avoided_until_s > now_s && one->avoided_until_s <= now_s + NC_ALT_SVC_AVOIDED_S;
        if ((one->protocol & protocols) != 0 && one->until_s > now_s && !is_avoided) {
            return one;
        }
    }
    return NULL;
}

void nc_alt_svc_avoid(nc_alt_svc *list, const nc_alternative *one, int64_t now_s) {
    range own = range_of(list, &one->origin);
    for (size_t i = own.first; i < own.end; i++) {
        if (is_same_service(list->items[i], one)) {
            list->items[i]->avoided_until_s = now_s + NC_ALT_SVC_AVOIDED_S;
        }
    }
}

/* --- the field --- */

/// The contents of a field: some alternatives, or "clear".
typedef struct said {
    nc_alternative items[NC_ALT_SVC_MAX_EACH];
    size_t count;
} said;

/// Returns the protocol of an ALPN name, percent-encoded if it is not a token (RFC 7838, 3), or as in libcurl's files.
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
static bool read_authority(nc_alt_place *out, nc_slice text, const nc_alt_place *origin) {
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
    return nc_alt_place_make(out, host.length > 0 ? host : nc_slice_of(origin->host), port);
}

/// Parses one alternative and its parameters. Unknown ones are skipped.
static bool read_alternative(nc_alternative *out, nc_slice text, const nc_alt_place *origin, int64_t now_s) {
    int64_t age_s = usual_s;
    nc_slice authority = nc_field_take(&text, ';');
    nc_slice protocol = nc_field_trim(nc_field_take(&authority, '='));
    *out = (nc_alternative){.origin = *origin, .protocol = protocol_of(protocol)};
    if (protocol.length == 0 || !read_authority(&out->place, nc_field_trim(authority), origin)) {
        return false;
    }
    while (text.length > 0) {
        nc_slice value = nc_field_take(&text, ';');
        nc_slice name = nc_field_trim(nc_field_take(&value, '='));
        value = nc_field_trim(value);
        if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("ma"))) {
            if (!nc_field_seconds(&age_s, value, longest_s)) {
                return false;
            }
        } else if (nc_slice_is_equal_ignoring_case(name, nc_slice_of("persist"))) {
            out->is_persistent = nc_slice_is_equal(nc_field_unquote(value), nc_slice_of("1"));
        }
    }
    out->until_s = now_s + age_s;
    return true;
}

/// Returns true if the alternative is new: not the origin itself, not expired, and not a duplicate.
static bool is_of_use(const said *before, const nc_alternative *one, int64_t now_s) {
    for (size_t i = 0; i < before->count; i++) {
        if (is_same_service(&before->items[i], one)) {
            return false;
        }
    }
    bool is_the_origin = one->protocol != NC_ALT_HTTP_3 && is_equal(&one->place, &one->origin);
    return one->protocol != 0 && one->until_s > now_s && !is_the_origin && before->count < NC_ALT_SVC_MAX_EACH;
}

static bool read_field(said *out, nc_slice field, const nc_alt_place *origin, int64_t now_s) {
    out->count = 0;
    if (nc_slice_is_equal(nc_field_trim(field), nc_slice_of("clear"))) {
        return true;
    }
    bool has_any = false;
    while (field.length > 0) {
        nc_alternative one;
        nc_slice text = nc_field_trim(nc_field_take(&field, ','));
        if (text.length == 0) {
            continue; // RFC 9110, 5.6.1: empty list members are ignored.
        }
        if (!read_alternative(&one, text, origin, now_s)) {
            return false;
        }
        has_any = true;
        if (is_of_use(out, &one, now_s)) {
            out->items[out->count++] = one;
        }
    }
    return has_any;
}

static bool is_nearly(const nc_alternative *known, const nc_alternative *said_now, int64_t now_s) {
    int64_t moved_s = said_now->until_s - known->until_s;
    int64_t left_s = said_now->until_s - now_s;
    return is_same_service(known, said_now) && known->is_persistent == said_now->is_persistent && moved_s < slight_s &&
           moved_s > -slight_s && moved_s * SLIGHT_PARTS < left_s;
}

/// Returns true if the field equals what is stored for the origin.
static bool says_nothing_new(const nc_alt_svc *list, const said *now, const nc_alt_place *origin, int64_t now_s) {
    range own = range_of(list, origin);
    for (size_t i = own.first; i < own.end; i++) {
        size_t known = i - own.first;
        if (known == now->count || !is_nearly(list->items[i], &now->items[known], now_s)) {
            return false;
        }
    }
    return own.end - own.first == now->count;
}

/// Removes an origin's alternatives from the list. The ones that are also in `now` stay avoided.
static void take_out(nc_alt_svc *list, said *now, const nc_alt_place *origin) {
    range own = range_of(list, origin);
    while (own.end > own.first) {
        const nc_alternative *one = list->items[--own.end];
        for (size_t k = 0; k < now->count; k++) {
            if (is_same_service(one, &now->items[k])) {
                now->items[k].avoided_until_s = one->avoided_until_s;
            }
        }
        remove_at(list, own.end);
    }
}

bool nc_alt_svc_note(nc_alt_svc *list, const nc_alt_place *origin, nc_slice field, int64_t now_s) {
    said now;
    if (!read_field(&now, field, origin, now_s) || says_nothing_new(list, &now, origin, now_s)) {
        return false;
    }
    size_t before = range_of(list, origin).end - range_of(list, origin).first;
    take_out(list, &now, origin);
    size_t taken = 0;
    while (taken < now.count && append(list, &now.items[taken], now_s) == TAKEN) {
        taken++;
    }
    return before > 0 || taken > 0;
}

/* --- as text --- */

static nc_slice take_word(nc_slice *line) {
    *line = nc_field_trim(*line);
    return nc_field_take(line, ' ');
}

static bool read_place(nc_alt_place *out, nc_slice *line) {
    char bracketed[NC_ALT_SVC_HOST_BYTES];
    nc_slice host = take_word(line);
    uint16_t port = 0;
    bool is_bare = host.length > 0 && host.data[0] != '[' && memchr(host.data, ':', host.length) != NULL;
    if (is_bare && host.length < sizeof bracketed - 3) { // libcurl 7.88 writes IPv6 like this
        int length = snprintf(bracketed, sizeof bracketed, "[%.*s]", (int)host.length, (const char *)host.data);
        host = nc_slice_make(bracketed, (size_t)length);
    }
    return read_port(&port, take_word(line)) && nc_alt_place_make(out, host, port);
}

static bool read_line(nc_alternative *out, nc_slice line) {
    *out = (nc_alternative){0};
    bool is_known = protocol_of(take_word(&line)) != 0 && read_place(&out->origin, &line);
    out->protocol = protocol_of(take_word(&line));
    if (!is_known || out->protocol == 0 || !read_place(&out->place, &line)) {
        return false;
    }
    nc_slice when = take_word(&line);
    nc_slice persists = take_word(&line);
    out->is_persistent = nc_slice_is_equal(persists, nc_slice_of("1"));
    return when.length > 2 && when.data[0] == '"' && nc_list_date_read(&out->until_s, nc_field_unquote(when));
}

static bool is_known(const nc_alt_svc *list, const nc_alternative *one) {
    range own = range_of(list, &one->origin);
    for (size_t i = own.first; i < own.end; i++) {
        if (is_same_service(list->items[i], one)) {
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
        if (one.until_s > now_s && !is_known(list, &one) && append(list, &one, now_s) == NO_MEMORY) {
            return NC_ERR_NO_MEMORY;
        }
    }
    return NC_OK;
}

static const char *name_of(uint8_t protocol) {
    return protocol == NC_ALT_HTTP_3 ? "h3" : protocol == NC_ALT_HTTP_2 ? "h2" : "h1";
}

void nc_alt_svc_write(const nc_alt_svc *list, nc_buf *out, int64_t now_s) {
    nc_buf_append(out, nc_slice_of("# Where else origins may be had (RFC 7838), in curl's format.\n"
                                   "# Written by NetKit; changes made here are lost.\n"));
    for (size_t i = 0; i < list->count; i++) {
        const nc_alternative *one = list->items[i];
        char line[2 * NC_ALT_SVC_HOST_BYTES + 96];
        if (one->until_s <= now_s) {
            continue;
        }
        int length = snprintf(line, sizeof line, "h2 %s %u %s %s %u \"%s\" %d 0\n", one->origin.host,
                              (unsigned)one->origin.port, name_of(one->protocol), one->place.host,
                              (unsigned)one->place.port, one->stamp, one->is_persistent ? 1 : 0);
        nc_buf_append(out, nc_slice_make(line, (size_t)length));
    }
}
