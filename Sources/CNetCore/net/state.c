#include "net/state.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "net/access_check.h"

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
            return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a path or URL holds a NUL or is longer than %d bytes",
                                MAX_TEXT_BYTES);
        }
    }
    if (options->cookies != NC_COOKIES_OFF && options->cookies != NC_COOKIES_MEMORY &&
        options->cookies != NC_COOKIES_FILE) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown cookie choice %d", (int)options->cookies);
    }
    if ((options->cookies == NC_COOKIES_FILE) != (options->cookie_file.length > 0)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "a cookie file goes with NC_COOKIES_FILE");
    }
    if (options->family != NC_FAMILY_ANY && options->family != NC_FAMILY_IPV4 && options->family != NC_FAMILY_IPV6) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "unknown address family %d", (int)options->family);
    }
    if (options->doh_url.length > 0 &&
        (options->doh_url.length < 9 ||
         !nc_slice_is_equal_ignoring_case(nc_slice_make(options->doh_url.data, 8), nc_slice_of("https://")))) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the DNS-over-HTTPS server is no https URL");
    }
    return options->proxy != NULL ? nc_check_proxy(options->proxy, err) : NC_OK;
}

static char *keep(char **storage, nc_slice text) {
    if (text.length == 0) {
        return NULL;
    }
    char *begin = *storage;
    memcpy(begin, text.data, text.length);
    begin[text.length] = '\0';
    *storage = begin + text.length + 1;
    return begin;
}

/// Returns the working directory with a trailing slash; empty if it has no name, or a too long one.
static nc_slice current_folder(char *room, size_t capacity) {
    if (getcwd(room, capacity - 1) == NULL || room[0] != '/') {
        return nc_slice_make(NULL, 0);
    }
    size_t length = strlen(room);
    if (length > 1) {
        room[length++] = '/'; // in place of the NUL
    }
    return nc_slice_make(room, length);
}

/// Makes a path absolute, so that it stays valid if the working directory changes.
static char *keep_path(char **storage, nc_slice folder, nc_slice path) {
    char *begin = *storage;
    bool is_relative = path.length > 0 && path.data[0] != '/' && folder.length + path.length < PATH_MAX;
    if (is_relative && folder.length > 0) {
        memcpy(begin, folder.data, folder.length);
        *storage = begin + folder.length;
    }
    return keep(storage, path) != NULL ? begin : NULL;
}

nc_status nc_state_init(nc_state *state, const nc_engine_options *options, nc_error *err) {
    nc_status status = check(options, err);
    if (status != NC_OK) {
        return status;
    }
    size_t nodes = options->proxy != NULL ? options->proxy->header_count : 0;
    size_t proxy_bytes = options->proxy != NULL ? nc_proxy_size(options->proxy) : 1;
    char room[PATH_MAX];
    nc_slice folder = current_folder(room, sizeof room);
    size_t total = 5 + 4 * folder.length + options->cookie_file.length + options->netrc_file.length +
                   options->hsts_file.length + options->alt_svc_file.length + options->doh_url.length;
    void *storage = proxy_bytes > 0 && nc_size_add(&total, total, proxy_bytes) ? nc_alloc_zeroed(1, total) : NULL;
    if (storage == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for an engine's options");
    }
    char *text = (char *)((struct curl_slist *)storage + nodes);
    *state = (nc_state){
        .cookies = options->cookies,
        .family = options->family,
        .uses_netrc = options->uses_netrc,
        .uses_hsts = options->uses_hsts,
        .uses_alt_svc = options->uses_alt_svc,
        .has_proxy = options->proxy != NULL,
        .storage = storage,
    };
    state->cookie_file = keep_path(&text, folder, options->cookie_file);
    state->netrc_file = keep_path(&text, folder, options->netrc_file);
    state->hsts_file = keep_path(&text, folder, options->hsts_file);
    state->alt_svc_file = keep_path(&text, folder, options->alt_svc_file);
    state->doh_url = keep(&text, options->doh_url);
    if (options->proxy != NULL) {
        nc_proxy_keep(&state->proxy, options->proxy, storage, &text);
    }
    return NC_OK;
}

/// The longest netrc line that every libcurl reads, without its newline. libcurl 7.88 ignores longer ones, and sends
/// the request without their credentials.
enum { MAX_NETRC_LINE_BYTES = 4094, NETRC_PIECE_BYTES = 4096 };

/// The current line in check_lines().
typedef struct netrc_line {
    size_t number;
    size_t length;
    bool is_blank; // so far
    bool is_comment;
} netrc_line;

/// Takes the next byte of a file. Returns false if its line has become too long.
static bool take_netrc_byte(netrc_line *line, uint8_t byte) {
    if (byte == '\n') {
        *line = (netrc_line){.number = line->number + 1, .is_blank = true};
        return true;
    }
    line->is_comment = line->is_comment || (line->is_blank && byte == '#');
    line->is_blank = line->is_blank && (byte == ' ' || byte == '\t');
    line->length++;
    return line->length <= MAX_NETRC_LINE_BYTES || line->is_comment;
}

/// Returns NC_ERR_FILE for a line that libcurl would ignore. libcurl reports an unreadable file itself.
static nc_status check_lines(const nc_file_ops *files, const char *path, nc_error *err) {
    uint8_t bytes[NETRC_PIECE_BYTES];
    netrc_line line = {.number = 1, .is_blank = true};
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
                                      "'%s': line %zu is longer than %d bytes, the longest that libcurl reads", path,
                                      line.number, MAX_NETRC_LINE_BYTES);
            }
        }
    }
    if (fd >= 0) {
        (void)files->close(files->ctx, fd);
    }
    return status;
}

/// Checks libcurl's default file, which may be missing.
static nc_status check_home_netrc(const nc_file_ops *files, nc_error *err) {
    char path[MAX_TEXT_BYTES + 1];
    const char *home = getenv("HOME");
    int length = home != NULL ? snprintf(path, sizeof path, "%s/.netrc", home) : -1;
    if (length < 0 || (size_t)length >= sizeof path) {
        return NC_OK;
    }
    nc_error own;
    nc_error *told = err != NULL ? err : &own;
    nc_status status = nc_file_check(files, path, told);
    if (status == NC_OK) {
        return check_lines(files, path, told);
    }
    bool is_other_kind = status == NC_ERR_FILE && (told->native_code == EINVAL || told->native_code == EISDIR);
    return is_other_kind ? status : nc_error_clear(told);
}

nc_status nc_state_check_files(const nc_state *state, const nc_file_ops *files, nc_error *err) {
    if (!state->uses_netrc) {
        return NC_OK;
    }
    if (state->netrc_file == NULL) {
        return check_home_netrc(files, err);
    }
    nc_status status = nc_file_check(files, state->netrc_file, err);
    return status == NC_OK ? check_lines(files, state->netrc_file, err) : status;
}

void nc_state_deinit(nc_state *state) {
    nc_free(state->storage);
    *state = (nc_state){0};
}
