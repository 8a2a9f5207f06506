#include "http/cookie.h"

#include "base/alloc.h"
#include "text/host.h"

#include <stdlib.h>
#include <string.h>

static nc_slice copy(uint8_t **at, nc_slice text) {
    if (text.length > 0) {
        memcpy(*at, text.data, text.length);
    }
    nc_slice kept = nc_slice_make(*at, text.length);
    *at += text.length;
    return kept;
}

nc_cookie *nc_cookie_new(const nc_cookie *from) {
    size_t bytes = sizeof(nc_cookie);
    bool fits = nc_size_add(&bytes, bytes, from->domain.length) && nc_size_add(&bytes, bytes, from->path.length) &&
                nc_size_add(&bytes, bytes, from->name.length) && nc_size_add(&bytes, bytes, from->value.length);
    nc_cookie *cookie = fits ? nc_alloc_zeroed(1, bytes) : NULL;
    if (cookie == NULL) {
        return NULL;
    }
    uint8_t *at = (uint8_t *)(cookie + 1);
    cookie->expires_s = from->expires_s;
    cookie->is_persistent = from->is_persistent;
    cookie->is_secure = from->is_secure;
    cookie->is_http_only = from->is_http_only;
    cookie->is_host_only = from->is_host_only;
    cookie->is_loose = from->is_loose;
    cookie->domain = copy(&at, from->domain);
    cookie->path = copy(&at, from->path);
    cookie->name = copy(&at, from->name);
    cookie->value = copy(&at, from->value);
    atomic_init(&cookie->references, 1);
    return cookie;
}

void nc_cookie_release(nc_cookie *cookie) {
    if (cookie != NULL && atomic_fetch_sub_explicit(&cookie->references, 1, memory_order_acq_rel) == 1) {
        nc_free(cookie);
    }
}

bool nc_cookie_has_expired(const nc_cookie *cookie, int64_t now_s) {
    return cookie->is_persistent && cookie->expires_s <= now_s;
}

size_t nc_cookie_bytes(const nc_cookie *cookie) {
    return cookie->domain.length + cookie->path.length + cookie->name.length + cookie->value.length +
           NC_COOKIE_FIXED_BYTES;
}

/// Returns the path for comparisons. It has no trailing slash if an older libcurl may have added that slash.
static nc_slice compared_path(const nc_cookie *cookie) {
    return nc_slice_make(cookie->path.data, cookie->path.length - (cookie->is_loose ? 1 : 0));
}

static bool is_same_but_for_path(const nc_cookie *a, const nc_cookie *b) {
    return a->is_host_only == b->is_host_only && nc_slice_is_equal(a->name, b->name) &&
           nc_slice_is_equal(a->domain, b->domain);
}

bool nc_cookie_is_same(const nc_cookie *a, const nc_cookie *b) {
    return is_same_but_for_path(a, b) && nc_slice_is_equal(a->path, b->path);
}

bool nc_cookie_is_older_form(const nc_cookie *old, const nc_cookie *received) {
    return old->is_loose && is_same_but_for_path(old, received) &&
           nc_slice_is_equal(compared_path(old), received->path);
}

bool nc_cookie_is_identical(const nc_cookie *a, const nc_cookie *b) {
    return nc_cookie_is_same(a, b) && nc_slice_is_equal(a->value, b->value) && a->is_persistent == b->is_persistent &&
           a->expires_s == b->expires_s && a->is_secure == b->is_secure && a->is_http_only == b->is_http_only &&
           a->is_loose == b->is_loose;
}

static bool is_below(nc_slice host, nc_slice domain) {
    size_t before = host.length - domain.length;
    return host.length > domain.length && host.data[before - 1] == '.' &&
           memcmp(host.data + before, domain.data, domain.length) == 0;
}

bool nc_cookie_domain_matches(nc_slice host, nc_slice domain) {
    return nc_slice_is_equal(host, domain) ||
           (domain.length > 0 && nc_host_kind_of(host) == NC_HOST_NAME && is_below(host, domain));
}

bool nc_cookie_path_matches(nc_slice path, const nc_cookie *cookie) {
    nc_slice own = compared_path(cookie);
    path = path.length > 0 ? path : nc_slice_of("/");
    if (own.length > path.length || memcmp(own.data, path.data, own.length) != 0) {
        return false;
    }
    return own.length == path.length || own.data[own.length - 1] == '/' || path.data[own.length] == '/';
}

nc_slice nc_cookie_default_path(nc_slice path) {
    size_t length = path.length;
    while (length > 0 && path.data[length - 1] != '/') {
        length--;
    }
    return path.length > 0 && path.data[0] == '/' && length > 1 ? nc_slice_make(path.data, length - 1)
                                                                : nc_slice_of("/");
}

/* --- lists --- */

static int by_age(const void *a, const void *b) {
    uint64_t one = (*(nc_cookie *const *)a)->created;
    uint64_t two = (*(nc_cookie *const *)b)->created;
    return one < two ? -1 : one > two ? 1 : 0;
}

void nc_cookie_list_sort(nc_cookie_list *list) {
    if (list->count > 1) {
        qsort(list->cookies, list->count, sizeof(nc_cookie *), by_age);
    }
}

void nc_cookie_list_deinit(nc_cookie_list *list) {
    for (size_t i = 0; i < list->count; i++) {
        nc_cookie_release(list->cookies[i]);
    }
    nc_free(list->cookies);
    *list = (nc_cookie_list){0};
}
