/// The records of partial files: their text, and the records of a directory (nc_download_list(), nc_download_purge()).
#include "base/ascii.h"
#include "base/error.h"
#include "base/file.h"
#include "download/partial_file.h"

#include <errno.h>
#include <fcntl.h>
#include <netcore/body_source.h>
#include <netcore/download_list.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096 };

static const char first_line[] = "netkit partial download 1\n";

/* --- writing --- */

/// Appends a value on one line; line ends are escaped.
static void append_line(nc_buf *out, const char *name, nc_slice value) {
    static const char digits[] = "0123456789abcdef";
    nc_buf_append(out, nc_slice_of(name));
    nc_buf_append_byte(out, ' ');
    for (size_t i = 0; i < value.length; i++) {
        uint8_t c = value.data[i];
        if (c < 0x20 || c == 0x7F || c == '%') {
            const uint8_t escape[] = {'%', (uint8_t)digits[c >> 4], (uint8_t)digits[c & 15]};
            nc_buf_append(out, nc_slice_make(escape, sizeof escape));
        } else {
            nc_buf_append_byte(out, c);
        }
    }
    nc_buf_append_byte(out, '\n');
}

static void append_hex_line(nc_buf *out, const char *name, const uint8_t *bytes, size_t length) {
    nc_buf_append(out, nc_slice_of(name));
    nc_buf_append_byte(out, ' ');
    nc_hex_encode(out, nc_slice_make(bytes, length));
    nc_buf_append_byte(out, '\n');
}

static void append_number(nc_buf *out, uint64_t number) {
    char text[24];
    int length = number == NC_LENGTH_UNKNOWN ? snprintf(text, sizeof text, "-")
                                             : snprintf(text, sizeof text, "%llu", (unsigned long long)number);
    nc_buf_append(out, nc_slice_make(text, (size_t)length));
}

static void append_piece(nc_buf *out, const nc_record_piece *piece) {
    nc_buf_append(out, nc_slice_of("piece "));
    append_number(out, piece->start);
    nc_buf_append_byte(out, ' ');
    append_number(out, piece->end);
    nc_buf_append_byte(out, ' ');
    append_number(out, piece->stored_bytes);
    append_hex_line(out, "", piece->sum, sizeof piece->sum);
}

static void sum_of(uint8_t out[NC_CHECKSUM_BYTES], nc_slice text) {
    nc_checksum sum = nc_checksum_init();
    nc_checksum_update(&sum, text);
    nc_checksum_finish(out, &sum);
}

void nc_record_write(nc_buf *out, const nc_record *record) {
    uint8_t sum[NC_CHECKSUM_BYTES];
    size_t at = out->length;
    nc_buf_append(out, nc_slice_of(first_line));
    append_line(out, "url", record->url);
    append_line(out, "path", record->path);
    append_line(out, "etag", record->validators.etag);
    append_line(out, "modified", record->validators.modified);
    append_line(out, "strong", nc_slice_of(record->validators.is_strong ? "yes" : "no"));
    if (record->digests.has_sha256) {
        append_hex_line(out, "sha-256", record->digests.sha256, NC_SHA256_BYTES);
    }
    if (record->digests.has_md5) {
        append_hex_line(out, "md5", record->digests.md5, NC_MD5_BYTES);
    }
    nc_buf_append(out, nc_slice_of("total "));
    append_number(out, record->total);
    nc_buf_append(out, nc_slice_of("\ntime "));
    append_number(out, record->time_ms < 0 ? 0 : (uint64_t)record->time_ms);
    nc_buf_append_byte(out, '\n');
    for (size_t i = 0; i < record->piece_count; i++) {
        append_piece(out, &record->pieces[i]);
    }
    if (nc_buf_status(out) == NC_OK) {
        sum_of(sum, nc_slice_make(out->data + at, out->length - at));
        append_hex_line(out, "check", sum, sizeof sum);
    }
}

/* --- reading --- */

/// Reads lower-case digits, as nc_hex_encode() writes them.
static bool read_hex(uint8_t *out, size_t length, nc_slice text) {
    if (text.length != 2 * length) {
        return false;
    }
    for (size_t i = 0; i < length; i++) {
        uint8_t first = text.data[2 * i];
        uint8_t second = text.data[2 * i + 1];
        int high = nc_ascii_hex(first);
        int low = nc_ascii_hex(second);
        if (high < 0 || low < 0 || nc_ascii_lower(first) != first || nc_ascii_lower(second) != second) {
            return false;
        }
        out[i] = (uint8_t)(high * 16 + low);
    }
    return true;
}

static bool read_number(uint64_t *out, nc_slice text) {
    if (nc_slice_is_equal(text, nc_slice_of("-"))) {
        *out = NC_LENGTH_UNKNOWN;
        return true;
    }
    return nc_decimal_read(out, text);
}

/// Parses an escaped text, and appends it to `texts`. The caller has reserved enough memory, so earlier slices of
/// `texts` stay valid.
static bool read_text(nc_slice *out, nc_buf *texts, nc_slice value) {
    size_t at = texts->length;
    for (size_t i = 0; i < value.length; i++) {
        uint8_t c = value.data[i];
        if (c == '%' && !(i + 2 < value.length && read_hex(&c, 1, nc_slice_make(value.data + i + 1, 2)))) {
            return false;
        }
        i += value.data[i] == '%' ? 2 : 0;
        nc_buf_append_byte(texts, c);
    }
    *out = nc_slice_make(texts->data + at, texts->length - at);
    return true;
}

static bool read_piece(nc_record *record, nc_slice value) {
    nc_slice start;
    nc_slice end;
    nc_slice stored_bytes;
    if (record->piece_count == NC_RECORD_MAX_PIECES || !nc_slice_cut(&start, &value, ' ') ||
        !nc_slice_cut(&end, &value, ' ') || !nc_slice_cut(&stored_bytes, &value, ' ')) {
        return false;
    }
    nc_record_piece *piece = &record->pieces[record->piece_count++];
    return nc_decimal_read(&piece->start, start) && read_number(&piece->end, end) &&
           nc_decimal_read(&piece->stored_bytes, stored_bytes) && read_hex(piece->sum, sizeof piece->sum, value);
}

static bool read_line(nc_record *record, nc_buf *texts, nc_slice name, nc_slice value) {
    uint64_t number = 0;
    if (nc_slice_is_equal(name, nc_slice_of("url"))) {
        return read_text(&record->url, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("path"))) {
        return read_text(&record->path, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("etag"))) {
        return read_text(&record->validators.etag, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("modified"))) {
        return read_text(&record->validators.modified, texts, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("strong"))) {
        record->validators.is_strong = nc_slice_is_equal(value, nc_slice_of("yes"));
        return true;
    }
    if (nc_slice_is_equal(name, nc_slice_of("sha-256"))) {
        record->digests.has_sha256 = read_hex(record->digests.sha256, NC_SHA256_BYTES, value);
        return record->digests.has_sha256;
    }
    if (nc_slice_is_equal(name, nc_slice_of("md5"))) {
        record->digests.has_md5 = read_hex(record->digests.md5, NC_MD5_BYTES, value);
        return record->digests.has_md5;
    }
    if (nc_slice_is_equal(name, nc_slice_of("total"))) {
        return read_number(&record->total, value);
    }
    if (nc_slice_is_equal(name, nc_slice_of("time"))) {
        bool is_read = nc_decimal_read(&number, value);
        record->time_ms = (int64_t)number;
        return is_read;
    }
    return nc_slice_is_equal(name, nc_slice_of("piece")) && read_piece(record, value);
}

static bool makes_sense(const nc_record *record) {
    uint64_t at = 0;
    for (size_t i = 0; i < record->piece_count; i++) {
        const nc_record_piece *piece = &record->pieces[i];
        bool is_last = i + 1 == record->piece_count;
        bool is_open = piece->end == NC_LENGTH_UNKNOWN;
        if (piece->start != at || (is_open && !(is_last && record->total == NC_LENGTH_UNKNOWN)) ||
            (!is_open && (piece->end < piece->start || piece->stored_bytes > piece->end - piece->start)) ||
            (is_open && piece->stored_bytes > INT64_MAX - piece->start)) {
            return false;
        }
        at = piece->end;
    }
    return record->url.length > 0 && record->piece_count > 0 &&
           (record->total == NC_LENGTH_UNKNOWN || at == record->total);
}

/// Removes the line with the checksum from the end of the text. Returns false if the checksum is wrong or missing.
static bool check(nc_slice *text) {
    enum { CHECK_BYTES = 6 + 2 * NC_CHECKSUM_BYTES + 1 };
    uint8_t said[NC_CHECKSUM_BYTES];
    uint8_t sum[NC_CHECKSUM_BYTES];
    if (text->length < CHECK_BYTES || text->length > NC_RECORD_MAX_BYTES) {
        return false;
    }
    nc_slice line = nc_slice_make(text->data + text->length - CHECK_BYTES, CHECK_BYTES);
    text->length -= CHECK_BYTES;
    if (memcmp(line.data, "check ", 6) != 0 || line.data[CHECK_BYTES - 1] != '\n' ||
        !read_hex(said, sizeof said, nc_slice_make(line.data + 6, 2 * sizeof said))) {
        return false;
    }
    sum_of(sum, *text);
    return memcmp(said, sum, sizeof sum) == 0;
}

bool nc_record_read(nc_record *out, nc_buf *texts, nc_slice text) {
    size_t first = sizeof first_line - 1;
    nc_record record = {.total = NC_LENGTH_UNKNOWN};
    if (!check(&text) || text.length < first || memcmp(text.data, first_line, first) != 0 ||
        nc_buf_reserve(texts, text.length) != NC_OK) {
        return false;
    }
    text = nc_slice_make(text.data + first, text.length - first);
    nc_slice line;
    nc_slice name;
    while (text.length > 0) {
        if (!nc_slice_cut(&line, &text, '\n') || !nc_slice_cut(&name, &line, ' ') ||
            !read_line(&record, texts, name, line)) {
            return false;
        }
    }
    if (!makes_sense(&record)) {
        return false;
    }
    *out = record;
    return true;
}

uint64_t nc_record_stored_bytes(const nc_record *record) {
    uint64_t stored_bytes = 0;
    for (size_t i = 0; i < record->piece_count; i++) {
        stored_bytes += record->pieces[i].stored_bytes;
    }
    return stored_bytes;
}

/* --- reading from a directory --- */

bool nc_record_is_file_name(const char *name) {
    static const char ending[] = ".part.nk";
    size_t length = strlen(name);
    return length >= sizeof ending && strcmp(name + length - (sizeof ending - 1), ending) == 0;
}

static nc_status read_open_record(nc_loaded_record *loaded, const nc_file_ops *ops, int fd, size_t length,
                                  nc_error *err) {
    nc_buf text = nc_buf_init(NC_RECORD_MAX_BYTES);
    ssize_t got = nc_buf_reserve(&text, length) == NC_OK ? nc_files_read_at(ops, fd, text.data, length, 0) : -2;
    int code = errno;
    if (got >= 0) {
        loaded->is_good = nc_record_read(&loaded->record, &loaded->texts, nc_slice_make(text.data, (size_t)got));
    }
    nc_buf_deinit(&text);
    if (got == -2 || (!loaded->is_good && nc_buf_status(&loaded->texts) == NC_ERR_NO_MEMORY)) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for the record of a download");
    }
    return got >= 0 ? NC_OK : nc_file_fail(err, "the record of a download", "read", code);
}

nc_status nc_record_load(nc_state_folder folder, const char *name, nc_loaded_record *loaded, nc_error *err) {
    int fd = -1;
    struct stat info = {0};
    loaded->is_good = false;
    loaded->is_refused = false;
    nc_status status = nc_state_folder_check(&folder, err);
    int code = nc_state_file_try(&fd, &info, &folder, name, O_RDONLY);
    // If a link, a socket or a directory has the record's name, the record counts as missing.
    if (code == ENOENT || code == ELOOP || code == ENXIO || code == EINVAL || code == EISDIR) {
        return NC_OK;
    }
    if (status == NC_OK && code != 0) {
        loaded->is_refused = info.st_nlink > 0;
        status = nc_state_file_fail(err, &info, folder.path, name, code);
    } else if (status == NC_OK && info.st_size > 0 && info.st_size <= NC_RECORD_MAX_BYTES) {
        status = read_open_record(loaded, &folder.files, fd, (size_t)info.st_size, err);
    }
    nc_files_close_fd(&folder.files, &fd);
    return status;
}

bool nc_record_is_foreign(nc_status status, const nc_error *err) {
    return status == NC_ERR_FILE &&
           (err->native_code == EACCES || err->native_code == EPERM || err->native_code == EMLINK);
}

/* --- inventory of a directory --- */

/// A scan of a directory. Names are collected first, because removals would disturb the listing.
typedef struct walk {
    nc_state_folder folder;
    char path[PATH_BYTES];
    nc_buf names; // each with its NUL
} walk;

static bool add_name(void *ctx, const char *name) {
    walk *on = ctx;
    if (nc_record_is_file_name(name)) {
        nc_buf_append(&on->names, nc_slice_make(name, strlen(name) + 1));
    }
    return nc_buf_status(&on->names) == NC_OK;
}

/// Opens and checks a directory, and lists its records. If the path is a link, the target is checked. A record
/// determines the URL to fetch and the path of the result. So a directory is rejected if any user can create a record
/// in it.
static nc_status begin(walk *on, nc_slice path, const nc_file_ops *files, nc_error *err) {
    *on = (walk){.folder = {.fd = -1, .files = files != NULL ? *files : nc_file_ops_system()},
                 .names = nc_buf_init(SIZE_MAX / 2)};
    nc_state_folder *folder = &on->folder;
    folder->path = on->path;
    if (path.length == 0 || path.length >= sizeof on->path || memchr(path.data, 0, path.length) != NULL) {
        return nc_error_set(err, NC_ERR_FILE, ENAMETOOLONG, -1,
                            "the path of the directory is empty, too long or contains a NUL byte");
    }
    memcpy(on->path, path.data, path.length);
    folder->fd = nc_file_open(&folder->files, on->path, O_RDONLY | O_DIRECTORY, 0);
    if (folder->fd < 0) {
        return nc_file_fail(err, on->path, "opened as a directory", errno);
    }
    nc_status status = nc_state_folder_check(folder, err);
    if (status == NC_OK && folder->files.list(folder->files.ctx, folder->fd, add_name, on) != 0) {
        status = nc_file_fail(err, on->path, "listed", errno);
    }
    if (status == NC_OK && nc_buf_status(&on->names) != NC_OK) {
        status = nc_error_set(err, nc_buf_status(&on->names), 0, -1, "no memory for a list of downloads");
    }
    return status;
}

static void end(walk *on) {
    nc_files_close_fd(&on->folder.files, &on->folder.fd);
    nc_buf_deinit(&on->names);
}

/// Returns the next name, or NULL at the end.
static const char *next_name(const walk *on, size_t *at) {
    if (*at >= on->names.length) {
        return NULL;
    }
    const char *name = (const char *)on->names.data + *at;
    *at += strlen(name) + 1;
    return name;
}

/// A record of the directory.
typedef struct found {
    char part[NC_PARTIAL_NAME_BYTES]; // name of its partial file
    nc_loaded_record loaded;
    bool is_foreign;  // another user may own it, so it must not be read or removed
    nc_error refusal; // the reason, if `is_foreign` is true
} found;

static nc_status look_at(found *out, const walk *on, const char *name, nc_error *err) {
    (void)snprintf(out->part, sizeof out->part, "%.*s", (int)(strlen(name) - strlen(".nk")), name);
    out->loaded.texts = nc_buf_init(NC_RECORD_MAX_BYTES);
    nc_status status = nc_record_load(on->folder, name, &out->loaded, &out->refusal);
    out->is_foreign = nc_record_is_foreign(status, &out->refusal);
    if (status != NC_OK && !out->is_foreign && err != NULL) {
        *err = out->refusal;
    }
    return out->is_foreign ? NC_OK : status;
}

/// Returns true if the partial file of a record exists. If it does not exist, there is nothing to resume. In this case
/// the process was killed before it created the partial file, or after it renamed the complete file.
static bool has_part(const walk *on, const found *one) {
    struct stat info;
    return nc_files_status_at(&on->folder.files, on->folder.fd, one->part, &info) == 0 || errno != ENOENT;
}

/// Returns true if a process holds the partial file of this name.
static bool is_locked(const nc_file_ops *ops, int folder_fd, const char *part) {
    struct flock range = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    int fd = nc_files_open_at(ops, folder_fd, part, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
    bool has_lock = fd >= 0 && ops->lock(ops->ctx, fd, &range, true) == 0 && range.l_type != F_UNLCK;
    nc_files_close_fd(ops, &fd);
    return has_lock;
}

/// Passes a record to `visit`. If the record is not trusted, passes only its path and the reason, not its contents.
static bool show(const walk *on, const found *one, nc_download_entry_fn visit, void *ctx) {
    char path[PATH_BYTES + NC_PARTIAL_NAME_BYTES];
    const nc_record *record = &one->loaded.record;
    bool has_slash = on->path[strlen(on->path) - 1] == '/';
    (void)snprintf(path, sizeof path, "%s%s%s", on->path, has_slash ? "" : "/", one->part);
    nc_download_entry entry = {.partial_path = nc_slice_of(path), .total_bytes = NC_LENGTH_UNKNOWN};
    if (one->loaded.is_good) {
        entry.url = record->url;
        entry.path = record->path;
        entry.received_bytes = nc_record_stored_bytes(record);
        entry.total_bytes = record->total;
        entry.changed_at_ms = record->time_ms;
        entry.has_validator = record->validators.is_strong;
        entry.is_active = is_locked(&on->folder.files, on->folder.fd, one->part);
    } else {
        entry.refusal = &one->refusal;
    }
    return visit(ctx, &entry);
}

nc_status nc_download_list(nc_download_entry_fn visit, void *ctx, nc_slice folder, const nc_file_ops *files,
                           nc_error *err) {
    walk on;
    nc_status status = begin(&on, folder, files, err);
    size_t at = 0;
    const char *name = NULL;
    bool goes_on = true;
    while (status == NC_OK && goes_on && (name = next_name(&on, &at)) != NULL) {
        found one;
        status = look_at(&one, &on, name, err);
        if (status == NC_OK && (one.loaded.is_good ? has_part(&on, &one) : one.loaded.is_refused)) {
            goes_on = show(&on, &one, visit, ctx);
        }
        nc_buf_deinit(&one.loaded.texts);
    }
    end(&on);
    return status == NC_OK ? nc_error_clear(err) : status;
}

static bool is_old(const walk *on, const char *name, const found *one, int64_t before_ms) {
    struct stat info;
    if (before_ms == INT64_MAX) {
        return true;
    }
    if (one->loaded.is_good) {
        return one->loaded.record.time_ms < before_ms;
    }
    return nc_files_status_at(&on->folder.files, on->folder.fd, name, &info) == 0 &&
           (int64_t)info.st_mtime * 1000 < before_ms;
}

/// Removes a partial file and its record. The partial file is removed first. If the removal of the record then fails,
/// the next purge finds the record and removes it.
static nc_status remove_one(const walk *on, const char *name, const char *part, nc_error *err) {
    char new_record[NC_PARTIAL_NAME_BYTES + 1];
    (void)snprintf(new_record, sizeof new_record, "%s~", name);
    const char *const names[] = {part, new_record, name};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (nc_files_unlink_at(&on->folder.files, on->folder.fd, names[i]) != 0) {
            return nc_file_fail(err, names[i], "removed", errno);
        }
    }
    return NC_OK;
}

nc_status nc_download_purge(uint64_t *removed, nc_slice folder, int64_t before_ms, const nc_file_ops *files,
                            nc_error *err) {
    walk on;
    uint64_t count = 0;
    nc_status status = begin(&on, folder, files, err);
    size_t at = 0;
    const char *name = NULL;
    while (status == NC_OK && (name = next_name(&on, &at)) != NULL) {
        found one;
        status = look_at(&one, &on, name, err);
        bool is_due = status == NC_OK && !one.is_foreign && is_old(&on, name, &one, before_ms) &&
                      !is_locked(&on.folder.files, on.folder.fd, one.part);
        if (is_due) {
            status = remove_one(&on, name, one.part, err);
            count += status == NC_OK ? 1 : 0;
        }
        nc_buf_deinit(&one.loaded.texts);
    }
    end(&on);
    if (removed != NULL) {
        *removed = count;
    }
    return status == NC_OK ? nc_error_clear(err) : status;
}
