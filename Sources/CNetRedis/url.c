#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// The configuration: the server's URL, its secrets, and the limits with their defaults.
#include "internal.h"

#include <netcore/url.h>
#include <openssl/crypto.h>
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_PORT = 6379, MAX_SECRET_BYTES = 64 << 10, MAX_DATABASE = 1 << 20, MAX_MS = 24 * 60 * 60 * 1000 };

static const size_t max_bytes = (size_t)1 << 30;

/* --- numbers --- */

static bool read_number(uint32_t *out, nc_slice digits, uint32_t highest) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.length; i++) {
        if (digits.data[i] < '0' || digits.data[i] > '9' || value > highest) {
            return false;
        }
        value = value * 10 + (uint64_t)(digits.data[i] - '0');
    }
    *out = (uint32_t)value;
    return digits.length > 0 && value <= highest;
}

static nc_status read_database(nc_redis_settings *out, nc_slice digits, nc_error *err) {
    if (digits.length == 0 || out->limits.database != 0) {
        return NC_OK;
    }
    if (!read_number(&out->limits.database, digits, MAX_DATABASE)) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the database in the URL is not a number up to %d", MAX_DATABASE);
    }
    return NC_OK;
}

typedef struct limit_row {
    uint32_t *value;
    uint32_t fallback;
} limit_row;

static nc_status fill_limits(nc_redis_config *limits, nc_error *err) {
    const limit_row rows[] = {
        {&limits->connect_timeout_ms, 1000}, {&limits->command_timeout_ms, 50}, {&limits->silence_timeout_ms, 1000},
        {&limits->min_backoff_ms, 50},       {&limits->max_backoff_ms, 5000},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        *rows[i].value = *rows[i].value == 0 ? rows[i].fallback : *rows[i].value;
        if (*rows[i].value > MAX_MS) {
            return nc_redis_fail(err, NC_ERR_USAGE, 0, "a time limit exceeds 24 hours");
        }
    }
    limits->max_queued_bytes = limits->max_queued_bytes == 0 ? (size_t)64 << 20 : limits->max_queued_bytes;
    limits->max_reply_bytes = limits->max_reply_bytes == 0 ? (size_t)64 << 20 : limits->max_reply_bytes;
    if (limits->max_queued_bytes > max_bytes || limits->max_reply_bytes > max_bytes) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "max_queued_bytes or max_reply_bytes exceeds 1 GiB");
    }
    if (limits->database > MAX_DATABASE) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "the database is above %d", MAX_DATABASE);
    }
    if (limits->min_backoff_ms > limits->max_backoff_ms) {
        limits->min_backoff_ms = limits->max_backoff_ms;
    }
    return NC_OK;
}

/* --- texts --- */

static int digit_of(uint8_t c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/// Copies a text, percent-decoded if it is from a URL. An empty text and one with a NUL have no copy: *out is NULL.
/// Returns false if memory ran out.
static bool copy_text(char **out, nc_slice text, bool is_encoded) {
    char *copy = malloc(text.length + 1);
    size_t length = 0;
    for (size_t i = 0; copy != NULL && i < text.length; i++) {
        uint8_t c = text.data[i];
        if (is_encoded && c == '%' && i + 2 < text.length && digit_of(text.data[i + 1]) >= 0 &&
            digit_of(text.data[i + 2]) >= 0) {
            c = (uint8_t)(digit_of(text.data[i + 1]) << 4 | digit_of(text.data[i + 2]));
            i += 2;
        }
        copy[length++] = (char)c;
    }
    if (copy == NULL) {
        return false;
    }
    copy[length] = '\0';
    bool is_text = length > 0 && memchr(copy, '\0', length) == NULL;
    if (!is_text) {
        OPENSSL_cleanse(copy, length);
        free(copy);
    }
    *out = is_text ? copy : NULL;
    return true;
}

/// Stores a user or a password. An empty text is absent.
static nc_status store_secret(char **out, nc_slice given, nc_slice in_url, nc_error *err) {
    bool is_given = given.length > 0;
    nc_slice text = is_given ? given : in_url;
    if (text.length == 0) {
        return NC_OK;
    }
    if (text.length > MAX_SECRET_BYTES) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "the user or the password exceeds %d bytes", MAX_SECRET_BYTES);
    }
    if (!copy_text(out, text, !is_given)) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    return *out != NULL ? NC_OK : nc_redis_fail(err, NC_ERR_USAGE, 0, "the user or the password contains a NUL");
}

static nc_status read_path(nc_redis_settings *out, const nc_url_parts *parts, nc_error *err) {
    static const char name[] = "db=";
    if (parts->host.length > 0 || parts->has_userinfo || parts->path.length < 2 || parts->path.length > 107) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "a Unix socket is unix:///path, at most 107 bytes");
    }
    char *path = NULL;
    if (!copy_text(&path, parts->path, true)) {
        return nc_redis_fail(err, NC_ERR_NO_MEMORY, 0, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    if (path == NULL) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the path of the Unix socket contains a NUL");
    }
    memcpy(out->host, path, strlen(path) + 1);
    free(path);
    if (!parts->has_query) {
        return NC_OK;
    }
    if (parts->query.length < 3 || memcmp(parts->query.data, name, 3) != 0) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the query of a unix URL is db=NUMBER");
    }
    return read_database(out, nc_slice_make(parts->query.data + 3, parts->query.length - 3), err);
}

static nc_status read_server(nc_redis_settings *out, const nc_url_parts *parts, nc_error *err) {
    nc_slice host = parts->host;
    uint32_t port = DEFAULT_PORT;
    if (host.length > 2 && host.data[0] == '[') {
        host = nc_slice_make(host.data + 1, host.length - 2);
    }
    if (host.length == 0 || host.length > NC_REDIS_MAX_HOST_BYTES || parts->has_query || parts->has_fragment) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the URL is not redis://[user[:password]@]host[:port][/database]");
    }
    for (size_t i = 0; i < host.length; i++) {
        if (host.data[i] <= ' ' || host.data[i] == 0x7f || host.data[i] == '%') {
            return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the host of the URL contains a forbidden character");
        }
    }
    if (parts->has_port && (!read_number(&port, parts->port, UINT16_MAX) || port == 0)) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the port of the URL is not a number up to 65535");
    }
    memcpy(out->host, host.data, host.length);
    out->port = (uint16_t)port;
    nc_slice database = parts->path;
    if (database.length > 0) {
        database = nc_slice_make(database.data + 1, database.length - 1);
    }
    return read_database(out, database, err);
}

nc_status nc_redis_settings_read(nc_redis_settings *out, const nc_redis_config *config, nc_error *err) {
    *out = (nc_redis_settings){.limits = *config};
    nc_slice none = nc_slice_make(NULL, 0);
    nc_slice user = none;
    nc_slice password = none;
    nc_status status = fill_limits(&out->limits, err);
    if (status != NC_OK) {
        return status;
    }
    if (config->url.length > NC_URL_MAX_BYTES) {
        return nc_redis_fail(err, NC_ERR_BAD_URL, 0, "the URL is too long");
    }
    nc_url_parts parts = nc_url_split(config->url);
    out->is_unix = nc_slice_is_equal_ignoring_case(parts.scheme, nc_slice_of("unix"));
    out->is_tls = nc_slice_is_equal_ignoring_case(parts.scheme, nc_slice_of("rediss"));
    if (!out->is_unix && !out->is_tls && !nc_slice_is_equal_ignoring_case(parts.scheme, nc_slice_of("redis"))) {
        return nc_redis_fail(err, NC_ERR_BAD_SCHEME, 0, "the URL's scheme is not redis, rediss or unix");
    }
    if (parts.has_userinfo) {
        const uint8_t *colon = memchr(parts.userinfo.data, ':', parts.userinfo.length);
        size_t length = colon != NULL ? (size_t)(colon - parts.userinfo.data) : parts.userinfo.length;
        user = nc_slice_make(parts.userinfo.data, length);
        password = colon != NULL ? nc_slice_make(colon + 1, parts.userinfo.length - length - 1) : none;
    }
    status = out->is_unix ? read_path(out, &parts, err) : read_server(out, &parts, err);
    status = status == NC_OK ? store_secret(&out->user, config->user, user, err) : status;
    status = status == NC_OK ? store_secret(&out->password, config->password, password, err) : status;
    if (status == NC_OK && out->user != NULL && out->password == NULL) {
        return nc_redis_fail(err, NC_ERR_USAGE, 0, "there is a user, but no password");
    }
    return status;
}

void nc_redis_settings_deinit(nc_redis_settings *settings) {
    if (settings->password != NULL) {
        OPENSSL_cleanse(settings->password, strlen(settings->password));
    }
    free(settings->password);
    free(settings->user);
    settings->password = NULL;
    settings->user = NULL;
}

#endif
