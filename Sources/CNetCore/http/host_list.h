/// The list that the HSTS cache and the Alt-Svc cache use. Its entries expire, and are counted per site (registrable
/// domain), so that no site can fill the list. The files of these caches have one entry per line, comments, and dates
/// as "YYYYMMDD HH:MM:SS" in UTC.
#ifndef NETCORE_PRIVATE_HOST_LIST_H
#define NETCORE_PRIVATE_HOST_LIST_H

#include <netcore/bytes.h>

typedef struct nc_site {
    uint32_t count; // number of the site's entries; never 0
    uint16_t length;
    char name[];
} nc_site;

/// The sites of a list. A zeroed struct is an empty table. Not thread-safe: use from one thread at a time.
typedef struct nc_site_counts {
    nc_site **sites; // sorted by name
    size_t count;
    size_t capacity;
} nc_site_counts;

/// Room for a date and a NUL.
enum { NC_LIST_DATE_BYTES = 32 };

/// The first member of each cache's own entry type.
typedef struct nc_host_entry {
    int64_t until_s;                // expiry; INT64_MAX means never
    nc_site *site;                  // set by nc_host_list_insert()
    char stamp[NC_LIST_DATE_BYTES]; // the expiry as text, formatted early so that writing the list is fast
} nc_host_entry;

/// A zeroed struct is an empty list. Not thread-safe: use from one thread at a time.
typedef struct nc_host_list {
    nc_host_entry **entries; // in the owner's order
    size_t count;
    size_t capacity;
    nc_site_counts sites;
} nc_host_list;

typedef struct nc_site_limits {
    size_t total;
    uint32_t per_site;
} nc_site_limits;

typedef enum nc_host_outcome { NC_HOST_TAKEN, NC_HOST_REFUSED, NC_HOST_NO_MEMORY } nc_host_outcome;

/// Frees the entries.
void nc_host_list_deinit(nc_host_list *list);
/// Makes room for an entry of a canonical host.
///
/// A full list first loses an expired entry. If the host's site has reached its own limit, it loses its entry that
/// expires first. If the list is still full, the site with the most entries loses its entry that expires first. If two
/// sites have the most entries and one is the host's site, the host's site loses the entry.
///
/// Returns NC_HOST_REFUSED if the list is full, each site has one entry, and the host's site has none. Otherwise an
/// owner of many names could evict other sites.
NC_NODISCARD nc_host_outcome nc_host_list_make_room(nc_host_list *list, nc_slice host, nc_site_limits limits,
                                                    int64_t now_s);
/// Inserts a copy of an entry of a canonical host, after nc_host_list_make_room(). Returns false without memory.
NC_NODISCARD bool nc_host_list_insert(nc_host_list *list, size_t index, const nc_host_entry *entry, size_t bytes,
                                      nc_slice host);
/// Removes an entry and frees it.
void nc_host_list_remove(nc_host_list *list, size_t index);
/// Formats `stamp` again after a change of the expiry.
void nc_host_entry_stamp(nc_host_entry *entry);

/* --- as text --- */

/// Takes the next line that is neither empty nor a comment from the front of `text`, without white space around it.
/// `number` counts all lines; the caller sets it to 0 before the first call. Returns false at the end.
bool nc_list_text_take(nc_slice *line, nc_slice *text, size_t *number);

/// Parses a date to seconds since 1970. Returns false if it is invalid.
bool nc_list_date_read(int64_t *at_s, nc_slice text);

/* --- field values --- */

/// Removes the text before the next separator from the front of `left`, and also the separator. Returns the text. A
/// separator in quotes does not count.
nc_slice nc_field_take(nc_slice *left, uint8_t separator);
/// Returns the text without quotes around it, if there are any. A backslash within is kept.
nc_slice nc_field_unquote(nc_slice text);
/// Parses a number of seconds, which may be in quotes. A number above `max_s` becomes `max_s`. Returns false for other
/// text.
bool nc_field_seconds(int64_t *out_s, nc_slice text, int64_t max_s);

#endif
