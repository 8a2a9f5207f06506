#include "request/engine_config.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "request/request_copy.h"

#include <curl/curl.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_TEXT_BYTES = 4095 };

static nc_status check(const nc_engine_options *options, nc_error *err) {
    const nc_slice texts[] = {options->cookie_file, options->netrc_file, options->hsts_file, options->alt_svc_file,
                              options->doh_url};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        if (texts[i].length > MAX_TEXT_BYTES ||
            (texts[i].length > 0 && memchr(texts[i].data, 0, texts[i].length) != NULL)) {
            return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                                "a path or URL in the engine's options contains a NUL byte or is longer than %d bytes",
                                MAX_TEXT_BYTES);
        }
    }
    if (options->cookies != NC_COOKIES_OFF && options->cookies != NC_COOKIES_MEMORY &&
        options->cookies != NC_COOKIES_FILE) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown cookie choice %d", (int)options->cookies);
    }
    if ((options->cookies == NC_COOKIES_FILE) != (options->cookie_file.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "cookie_file and NC_COOKIES_FILE must be set together");
    }
    if (options->family != NC_FAMILY_ANY && options->family != NC_FAMILY_IPV4 && options->family != NC_FAMILY_IPV6) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown address family %d", (int)options->family);
    }
    if ((unsigned)options->http > NC_HTTP_3_IF_POSSIBLE) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown protocol choice %d", (int)options->http);
    }
    if (options->doh_url.length > 0 &&
        (options->doh_url.length < 9 ||
         !nc_slice_is_equal_ignoring_case(nc_slice_make(options->doh_url.data, 8), nc_slice_of("https://")))) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the DNS-over-HTTPS server is not an https URL");
    }
    return options->proxy != NULL ? nc_check_proxy(options->proxy, err) : NC_OK;
}

static char *copy_text(char **storage, nc_slice text) {
    if (text.length == 0) {
        return NULL;
    }
    char *begin = *storage;
    memcpy(begin, text.data, text.length);
    begin[text.length] = '\0';
    *storage = begin + text.length + 1;
    return begin;
}

/// Returns the working directory with a trailing slash; empty if its path is unknown or too long.
static nc_slice current_directory(char *buffer, size_t capacity) {
    if (getcwd(buffer, capacity - 1) == NULL || buffer[0] != '/') {
        return nc_slice_make(NULL, 0);
    }
    size_t length = strlen(buffer);
    if (length > 1) {
        buffer[length++] = '/'; // in place of the NUL
    }
    return nc_slice_make(buffer, length);
}

/// Copies a path, and makes it absolute, so that it stays valid if the working directory changes.
static char *copy_path(char **storage, nc_slice directory, nc_slice path) {
    char *begin = *storage;
    bool is_relative = path.length > 0 && path.data[0] != '/' && directory.length + path.length < PATH_MAX;
    if (is_relative && directory.length > 0) {
        memcpy(begin, directory.data, directory.length);
        *storage = begin + directory.length;
    }
    return copy_text(storage, path) != NULL ? begin : NULL;
}

nc_status nc_engine_config_init(nc_engine_config *state, const nc_engine_options *options, nc_error *err) {
    nc_status status = check(options, err);
    if (status != NC_OK) {
        return status;
    }
    size_t nodes = options->proxy != NULL ? options->proxy->header_count : 0;
    size_t proxy_bytes = options->proxy != NULL ? nc_proxy_size(options->proxy) : 1;
    char buffer[PATH_MAX];
    nc_slice directory = current_directory(buffer, sizeof buffer);
    size_t total = 5 + 4 * directory.length + options->cookie_file.length + options->netrc_file.length +
                   options->hsts_file.length + options->alt_svc_file.length + options->doh_url.length;
    void *storage = proxy_bytes > 0 && nc_size_add(&total, total, proxy_bytes) ? nc_alloc_zeroed(1, total) : NULL;
    if (storage == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an engine's options");
    }
    char *text = (char *)((struct curl_slist *)storage + nodes);
    *state = (nc_engine_config){
        .cookies = options->cookies,
        .family = options->family,
        .http = options->http,
        .uses_netrc = options->uses_netrc,
        .uses_hsts = options->uses_hsts,
        .uses_alt_svc = options->uses_alt_svc,
        .has_proxy = options->proxy != NULL,
        .storage = storage,
    };
    state->cookie_file = copy_path(&text, directory, options->cookie_file);
    state->netrc_file = copy_path(&text, directory, options->netrc_file);
    state->hsts_file = copy_path(&text, directory, options->hsts_file);
    state->alt_svc_file = copy_path(&text, directory, options->alt_svc_file);
    state->doh_url = copy_text(&text, options->doh_url);
    if (options->proxy != NULL) {
        nc_copied_proxy_fill(&state->proxy, options->proxy, storage, &text);
    }
    return NC_OK;
}

enum { NETRC_PIECE_BYTES = 4096 };

/// The current line of a netrc file in check_lines().
typedef struct netrc_line {
    size_t number;
    size_t length;
    size_t max_length;
    bool is_blank; // only blanks were read so far
    bool is_comment;
} netrc_line;

/// Takes the next byte of a netrc file. Returns false if the line has become too long.
static bool take_netrc_byte(netrc_line *line, uint8_t byte) {
    if (byte == '\n') {
        *line = (netrc_line){.number = line->number + 1, .max_length = line->max_length, .is_blank = true};
        return true;
    }
    line->is_comment = line->is_comment || (line->is_blank && byte == '#');
    line->is_blank = line->is_blank && (byte == ' ' || byte == '\t');
    line->length++;
    return line->length <= line->max_length || line->is_comment;
}

/// Returns NC_ERR_FILE for a line that libcurl would ignore because of its length. Returns NC_OK for an unreadable
/// file, which libcurl reports itself.
static nc_status check_lines(const nc_file_ops *files, const char *path, size_t max_line_bytes, nc_error *err) {
    uint8_t bytes[NETRC_PIECE_BYTES];
    netrc_line line = {.number = 1, .max_length = max_line_bytes, .is_blank = true};
    nc_status status = nc_error_clear(err);
    int fd = nc_file_open(files, path, O_RDONLY | O_NONBLOCK, 0);
    ssize_t got = fd >= 0 ? 1 : 0;
    for (off_t at = 0; status == NC_OK && got > 0; at += got) {
        do {
            got = files->read_at(files->ctx, fd, bytes, sizeof bytes, at);
        } while (got < 0 && errno == EINTR);
        for (ssize_t i = 0; status == NC_OK && i < got; i++) {
            if (!take_netrc_byte(&line, bytes[i])) {
                status = nc_error_set(err, NC_ERR_FILE, CURLE_READ_ERROR, -1,
                                      "'%s': line %zu is longer than %zu bytes, the longest that libcurl reads", path,
                                      line.number, max_line_bytes);
            }
        }
    }
    if (fd >= 0) {
        (void)files->close(files->ctx, fd);
    }
    return status;
}

/// Checks libcurl's default file (~/.netrc), which may be missing.
static nc_status check_home_netrc(const nc_file_ops *files, size_t max_line_bytes, nc_error *err) {
    char path[MAX_TEXT_BYTES + 1];
    const char *home = getenv("HOME");
    int length = home != NULL ? snprintf(path, sizeof path, "%s/.netrc", home) : -1;
    if (length < 0 || (size_t)length >= sizeof path) {
        return NC_OK;
    }
    nc_error own;
    nc_error *notified = err != NULL ? err : &own;
    nc_status status = nc_file_check(files, path, notified);
    if (status == NC_OK) {
        return check_lines(files, path, max_line_bytes, notified);
    }
    bool is_other_kind = status == NC_ERR_FILE && (notified->native_code == EINVAL || notified->native_code == EISDIR);
    return is_other_kind ? status : nc_error_clear(notified);
}

nc_status nc_engine_config_check_files(const nc_engine_config *state, const nc_file_ops *files, size_t max_line_bytes,
                                       nc_error *err) {
    if (!state->uses_netrc) {
        return NC_OK;
    }
    if (state->netrc_file == NULL) {
        return check_home_netrc(files, max_line_bytes, err);
    }
    nc_status status = nc_file_check(files, state->netrc_file, err);
    return status == NC_OK ? check_lines(files, state->netrc_file, max_line_bytes, err) : status;
}

void nc_engine_config_deinit(nc_engine_config *state) {
    nc_free(state->storage);
    *state = (nc_engine_config){0};
}
