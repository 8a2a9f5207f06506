#include "http/cookie_jar.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/fnv.h"
#include "base/list.h"
#include "http/cookie.h"
#include "http/set_cookie.h"
#include "text/host.h"

#include <stdlib.h>
#include <string.h>

/// A site above one of these limits is large. A full jar evicts the cookies of large sites first.
enum { LARGE_COUNT = 25, LARGE_BYTES = 32 * 1024 };

#define COOKIE_IN_SITE(link) NC_CONTAINER_OF(link, nc_cookie, in_site)
#define COOKIE_IN_JAR(link) NC_CONTAINER_OF(link, nc_cookie, in_jar)

/* --- sites --- */

/// The cookies of one site.
struct nc_cookie_site {
    nc_cookie_site *next; // in its bucket
    nc_link large;        // the site's link in nc_cookie_jar.large_sites
    nc_link cookies[2];   // lists of nc_cookie.in_site, index is_secure; the least recently used cookie is first
    size_t count;
    size_t bytes;
    size_t name_length;
    char name[];
};

enum { BUCKETS = 512 };

static size_t bucket_of(nc_slice name) {
    return nc_fnv_fold(nc_fnv_add(NC_FNV_START, name)) % BUCKETS;
}

static bool is_site_named(const nc_cookie_site *site, nc_slice name) {
    return site->name_length == name.length && memcmp(site->name, name.data, name.length) == 0;
}

/// Finds the site of a canonical host; NULL if it has no cookie.
static nc_cookie_site *find_site(nc_cookie_site *const *buckets, nc_slice host, uint64_t *visits) {
    if (buckets == NULL || host.length == 0) {
        return NULL;
    }
    nc_slice name = nc_registrable_domain(host);
    nc_cookie_site *site = buckets[bucket_of(name)];
    while (site != NULL && !is_site_named(site, name)) {
        ++*visits;
        site = site->next;
    }
    return site;
}

/// Finds or creates the site of a canonical host. `buckets` may point to NULL, an empty table. NULL without memory.
static nc_cookie_site *make_site(nc_cookie_site ***buckets, nc_slice host, uint64_t *visits) {
    nc_cookie_site *site = find_site(*buckets, host, visits);
    if (site != NULL) {
        return site;
    }
    if (*buckets == NULL && (*buckets = nc_alloc_zeroed(BUCKETS, sizeof **buckets)) == NULL) {
        return NULL;
    }
    nc_slice name = nc_registrable_domain(host);
    site = nc_alloc_zeroed(1, sizeof *site + name.length);
    if (site == NULL) {
        return NULL;
    }
    nc_cookie_site **bucket = &(*buckets)[bucket_of(name)];
    nc_list_init(&site->cookies[false]);
    nc_list_init(&site->cookies[true]);
    memcpy(site->name, name.data, name.length);
    site->name_length = name.length;
    site->next = *bucket;
    *bucket = site;
    return site;
}

/// Removes a site without cookies from the table and frees it.
static void free_site(nc_cookie_site **buckets, nc_cookie_site *site) {
    nc_cookie_site **at = &buckets[bucket_of(nc_slice_make(site->name, site->name_length))];
    while (*at != site) {
        at = &(*at)->next;
    }
    *at = site->next;
    nc_list_remove(&site->large);
    nc_free(site);
}

/* --- the jar --- */

void nc_cookie_jar_init(nc_cookie_jar *jar) {
    *jar = (nc_cookie_jar){.first_end_s = INT64_MAX};
    nc_list_init(&jar->by_use);
    nc_list_init(&jar->large_sites);
}

/* --- counts --- */

static void record_size(nc_cookie_jar *jar, nc_cookie_site *site) {
    bool is_large = site->count > LARGE_COUNT || site->bytes > LARGE_BYTES;
    bool was_large = site->large.next != NULL;
    if (is_large && !was_large) {
        nc_list_append(&jar->large_sites, &site->large);
    } else if (!is_large && was_large) {
        nc_list_remove(&site->large);
    }
}

static void touch(nc_cookie_jar *jar, nc_cookie *cookie) {
    nc_list_remove(&cookie->in_site);
    nc_list_remove(&cookie->in_jar);
    nc_list_append(&cookie->site->cookies[cookie->is_secure], &cookie->in_site);
    nc_list_append(&jar->by_use, &cookie->in_jar);
    cookie->used = ++jar->last_used;
}

static void insert(nc_cookie_jar *jar, nc_cookie_site *site, nc_cookie *cookie) {
    size_t bytes = nc_cookie_bytes(cookie);
    cookie->site = site;
    touch(jar, cookie);
    site->count++;
    site->bytes += bytes;
    jar->count++;
    jar->bytes += bytes;
    if (cookie->is_persistent && cookie->expires_s < jar->first_end_s) {
        jar->first_end_s = cookie->expires_s;
    }
    record_size(jar, site);
}

/// Removes a cookie, and also its site if the cookie was the site's last one.
static void remove_cookie(nc_cookie_jar *jar, nc_cookie *cookie) {
    nc_cookie_site *site = cookie->site;
    size_t bytes = nc_cookie_bytes(cookie);
    nc_list_remove(&cookie->in_site);
    nc_list_remove(&cookie->in_jar);
    site->count--;
    site->bytes -= bytes;
    jar->count--;
    jar->bytes -= bytes;
    record_size(jar, site);
    if (site->count == 0) {
        free_site(jar->buckets, site);
    }
    nc_cookie_release(cookie);
}

/// Removes expired cookies. Cookies are visited only if one has expired, which happens at most once per second.
static void remove_expired(nc_cookie_jar *jar, int64_t now_s) {
    nc_link *next;
    if (now_s < jar->first_end_s) {
        return;
    }
    jar->first_end_s = INT64_MAX;
    for (nc_link *link = jar->by_use.next; link != &jar->by_use; link = next) {
        nc_cookie *cookie = COOKIE_IN_JAR(link);
        next = link->next;
        jar->visits++;
        if (nc_cookie_has_expired(cookie, now_s)) {
            remove_cookie(jar, cookie);
        } else if (cookie->is_persistent && cookie->expires_s < jar->first_end_s) {
            jar->first_end_s = cookie->expires_s;
        }
    }
}

void nc_cookie_jar_clear(nc_cookie_jar *jar) {
    while (!nc_list_is_empty(&jar->by_use)) {
        remove_cookie(jar, COOKIE_IN_JAR(jar->by_use.next));
    }
    jar->first_end_s = INT64_MAX;
}

void nc_cookie_jar_deinit(nc_cookie_jar *jar) {
    nc_cookie_jar_clear(jar);
    nc_free(jar->buckets);
    jar->buckets = NULL;
}

/* --- limits --- */

static nc_cookie *first_of(const nc_cookie_site *site, bool is_secure) {
    const nc_link *list = &site->cookies[is_secure];
    return nc_list_is_empty(list) ? NULL : COOKIE_IN_SITE(list->next);
}

/// Returns the least recently used cookie of the large sites; NULL if there is none.
static nc_cookie *first_of_large_sites(nc_cookie_jar *jar, bool is_secure) {
    nc_cookie *found = NULL;
    for (nc_link *link = jar->large_sites.next; link != &jar->large_sites; link = link->next) {
        nc_cookie *cookie = first_of(NC_CONTAINER_OF(link, nc_cookie_site, large), is_secure);
        jar->visits++;
        if (cookie != NULL && (found == NULL || cookie->used < found->used)) {
            found = cookie;
        }
    }
    return found;
}

static void shrink_site(nc_cookie_jar *jar, nc_cookie_site *site) {
    // The loop ends before the last removal, which would free the site.
    while (site->count > NC_JAR_MAX_COOKIES_PER_SITE || (site->bytes > NC_JAR_MAX_BYTES_PER_SITE && site->count > 1)) {
        nc_cookie *cookie = first_of(site, false);
        jar->visits++;
        remove_cookie(jar, cookie != NULL ? cookie : first_of(site, true));
    }
}

static void shrink(nc_cookie_jar *jar) {
    while (jar->count > NC_JAR_MAX_COOKIES || jar->bytes > NC_JAR_MAX_BYTES) {
        nc_cookie *cookie = first_of_large_sites(jar, false);
        cookie = cookie != NULL ? cookie : first_of_large_sites(jar, true);
        remove_cookie(jar, cookie != NULL ? cookie : COOKIE_IN_JAR(jar->by_use.next));
    }
}

/* --- storing --- */

typedef bool (*compare_fn)(const nc_cookie *old, const nc_cookie *cookie);

static nc_cookie *find(nc_cookie_jar *jar, const nc_cookie *cookie, compare_fn is_same) {
    nc_cookie_site *site = find_site(jar->buckets, cookie->domain, &jar->visits);
    for (int is_secure = 0; site != NULL && is_secure < 2; is_secure++) {
        nc_link *list = &site->cookies[is_secure];
        for (nc_link *link = list->next; link != list; link = link->next) {
            jar->visits++;
            if (is_same(COOKIE_IN_SITE(link), cookie)) {
                return COOKIE_IN_SITE(link);
            }
        }
    }
    return NULL;
}

/// Stores a cookie in place of `old`, which may be NULL. Takes over the reference to `cookie`.
static nc_status put(nc_cookie_jar *jar, nc_cookie *cookie, nc_cookie *old, int64_t now_s, bool *has_changed) {
    bool is_removal = nc_cookie_has_expired(cookie, now_s) || nc_cookie_bytes(cookie) > NC_JAR_MAX_BYTES_PER_SITE;
    if (is_removal || (old != NULL && nc_cookie_is_identical(old, cookie))) {
        nc_cookie_release(cookie);
        if (old != NULL && is_removal) {
            *has_changed = true;
            remove_cookie(jar, old);
        } else if (old != NULL) {
            touch(jar, old);
        }
        return NC_OK;
    }
    nc_cookie_site *site = make_site(&jar->buckets, cookie->domain, &jar->visits);
    if (site == NULL) {
        nc_cookie_release(cookie);
        return NC_ERR_NO_MEMORY;
    }
    cookie->created = old != NULL ? old->created : ++jar->last_created;
    insert(jar, site, cookie);
    if (old != NULL) {
        remove_cookie(jar, old);
    }
    shrink_site(jar, site);
    shrink(jar);
    *has_changed = true;
    return NC_OK;
}

nc_status nc_cookie_jar_put(nc_cookie_jar *jar, nc_cookie *cookie, int64_t now_s, bool *has_changed) {
    remove_expired(jar, now_s);
    return put(jar, cookie, find(jar, cookie, nc_cookie_is_same), now_s, has_changed);
}

/* --- Set-Cookie --- */

/// Applies the Domain attribute (5.7, steps 9 to 11): sets `domain` and `is_host_only` of the cookie. `room` stores the
/// domain in lower case. Returns false if the host may not set a cookie for the domain.
static bool take_domain(nc_cookie *out, char *room, nc_slice host, nc_slice domain) {
    out->domain = host;
    out->is_host_only = true;
    if (domain.length == 0) {
        return true;
    }
    bool has_brackets = domain.length > 2 && domain.data[0] == '[' && domain.data[domain.length - 1] == ']';
    domain = has_brackets ? nc_slice_make(domain.data + 1, domain.length - 2) : domain;
    if (domain.length > NC_HOST_MAX_BYTES) {
        return false;
    }
    for (size_t i = 0; i < domain.length; i++) {
        room[i] = (char)nc_ascii_lower(domain.data[i]);
    }
    domain = nc_slice_make(room, domain.length);
    bool is_host = nc_slice_is_equal(domain, host);
    if (is_host && (nc_host_kind_of(host) != NC_HOST_NAME || nc_is_public_suffix(host))) {
        return true; // host-only
    }
    out->domain = domain;
    out->is_host_only = false;
    return nc_cookie_domain_matches(host, domain) && !nc_is_public_suffix(domain);
}

/// "Leave secure cookies alone" (5.7, step 15): returns true if a cookie set without TLS would hide or replace a Secure
/// one.
static bool shadows_secure(nc_cookie_jar *jar, const nc_cookie *cookie) {
    nc_cookie_site *site = find_site(jar->buckets, cookie->domain, &jar->visits);
    const nc_link *list = site != NULL ? &site->cookies[true] : NULL;
    for (nc_link *link = list != NULL ? list->next : NULL; link != list; link = link->next) {
        const nc_cookie *other = COOKIE_IN_SITE(link);
        jar->visits++;
        if (nc_slice_is_equal(other->name, cookie->name) && nc_cookie_path_matches(cookie->path, other) &&
            (nc_cookie_domain_matches(cookie->domain, other->domain) ||
             nc_cookie_domain_matches(other->domain, cookie->domain))) {
            return true;
        }
    }
    return false;
}

nc_status nc_cookie_jar_store(nc_cookie_jar *jar, const nc_cookie_context *context, nc_slice field, bool *has_changed) {
    nc_set_cookie asked;
    char room[NC_HOST_MAX_BYTES];
    remove_expired(jar, context->now_s);
    if (context->host.length == 0 || !nc_set_cookie_read(&asked, field, context->now_s)) {
        return NC_OK;
    }
    nc_cookie made = {
        .expires_s = asked.expires_s,
        .is_persistent = asked.is_persistent,
        .is_secure = asked.is_secure,
        .is_http_only = asked.is_http_only,
        .path = asked.path.length > 0 ? asked.path : nc_cookie_default_path(context->path),
        .name = asked.name,
        .value = asked.value,
    };
    if (!take_domain(&made, room, context->host, asked.domain) || !nc_cookie_text_is_plain(made.path)) {
        return NC_OK;
    }
    bool is_at_root = asked.has_path && nc_slice_is_equal(made.path, nc_slice_of("/"));
    if (!nc_cookie_prefix_holds(made.name, made.is_secure, made.is_host_only, is_at_root) ||
        (!context->is_secure && (made.is_secure || shadows_secure(jar, &made)))) {
        return NC_OK;
    }
    nc_cookie *cookie = nc_cookie_new(&made);
    if (cookie == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    nc_cookie *old = find(jar, cookie, nc_cookie_is_same);
    old = old != NULL ? old : find(jar, cookie, nc_cookie_is_older_form);
    return put(jar, cookie, old, context->now_s, has_changed);
}

/* --- Cookie --- */

/// Longer paths come first, then older cookies (5.8.3).
static int by_path_and_age(const void *a, const void *b) {
    const nc_cookie *one = *(nc_cookie *const *)a;
    const nc_cookie *two = *(nc_cookie *const *)b;
    if (one->path.length != two->path.length) {
        return one->path.length > two->path.length ? -1 : 1;
    }
    return one->created < two->created ? -1 : 1;
}

/// Fills `found` with the cookies for a request. `found` has room for NC_JAR_MAX_COOKIES_PER_SITE cookies.
static size_t find_matching(nc_cookie_jar *jar, const nc_cookie_context *context, nc_cookie **found) {
    size_t count = 0;
    nc_cookie_site *site = find_site(jar->buckets, context->host, &jar->visits);
    for (int is_secure = 0; site != NULL && is_secure < (context->is_secure ? 2 : 1); is_secure++) {
        nc_link *list = &site->cookies[is_secure];
        for (nc_link *link = list->next; link != list; link = link->next) {
            nc_cookie *cookie = COOKIE_IN_SITE(link);
            bool is_domain = cookie->is_host_only ? nc_slice_is_equal(context->host, cookie->domain)
                                                  : nc_cookie_domain_matches(context->host, cookie->domain);
            jar->visits++;
            if (is_domain && nc_cookie_path_matches(context->path, cookie)) {
                found[count++] = cookie;
            }
        }
    }
    return count;
}

void nc_cookie_jar_append_field(nc_cookie_jar *jar, const nc_cookie_context *context, bool is_use, nc_buf *out) {
    nc_cookie *found[NC_JAR_MAX_COOKIES_PER_SITE];
    size_t sent = 0;
    size_t begin = out->length;
    remove_expired(jar, context->now_s);
    size_t count = find_matching(jar, context, found);
    if (count > 1) {
        qsort(found, count, sizeof *found, by_path_and_age);
    }
    for (size_t i = 0; i < count; i++) {
        const nc_cookie *cookie = found[i];
        // Cookies that do not fit into the field count as used too. Otherwise the limits of the field would determine
        // the order of eviction.
        if (is_use) {
            touch(jar, found[i]);
        }
        size_t bytes = (sent > 0 ? 2 : 0) + cookie->name.length + 1 + cookie->value.length;
        if (sent == NC_JAR_MAX_SENT_COOKIES || out->length - begin + bytes > NC_JAR_MAX_SENT_BYTES) {
            continue;
        }
        nc_buf_append(out, nc_slice_of(sent++ > 0 ? "; " : ""));
        nc_buf_append(out, cookie->name);
        nc_buf_append_byte(out, '=');
        nc_buf_append(out, cookie->value);
    }
}

/* --- all cookies --- */

nc_status nc_cookie_jar_list(nc_cookie_jar *jar, int64_t now_s, nc_cookie_list *out) {
    remove_expired(jar, now_s);
    *out = (nc_cookie_list){0};
    if (jar->count == 0) {
        return NC_OK;
    }
    out->cookies = nc_alloc_zeroed(jar->count, sizeof(nc_cookie *));
    if (out->cookies == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    for (nc_link *link = jar->by_use.next; link != &jar->by_use; link = link->next) {
        nc_cookie *cookie = COOKIE_IN_JAR(link);
        atomic_fetch_add_explicit(&cookie->references, 1, memory_order_relaxed);
        out->cookies[out->count++] = cookie;
    }
    return NC_OK;
}
