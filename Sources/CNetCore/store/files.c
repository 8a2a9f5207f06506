#include "base/file.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* --- names --- */

static const char digits[] = "0123456789abcdef";

void nc_entry_name_format(char out[NC_ENTRY_NAME_BYTES], const nc_store_name *name) {
    for (size_t i = 0; i < NC_STORE_ID_BYTES; i++) {
        out[2 * i] = digits[name->id[i] >> 4];
        out[2 * i + 1] = digits[name->id[i] & 15];
    }
    out[2 * NC_STORE_ID_BYTES] = '.';
    out[2 * NC_STORE_ID_BYTES + 1] = (char)('0' + name->slot);
    out[2 * NC_STORE_ID_BYTES + 2] = '\0';
}

/// Returns the value of a lower-case hex digit, or -1 for any other character, including NUL.
static int value_of(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool nc_entry_name_parse(nc_store_name *out, const char *text) {
    nc_store_name name;
    for (size_t i = 0; i < NC_STORE_ID_BYTES; i++) {
        int high = value_of(text[2 * i]);
        int low = high < 0 ? -1 : value_of(text[2 * i + 1]);
        if (low < 0) {
            return false;
        }
        name.id[i] = (uint8_t)(high << 4 | low);
    }
    const char *rest = text + 2 * NC_STORE_ID_BYTES;
    if (rest[0] != '.' || rest[1] < '0' || rest[1] >= '0' + NC_STORE_SLOTS || rest[2] != '\0') {
        return false;
    }
    name.slot = (uint8_t)(rest[1] - '0');
    *out = name;
    return true;
}

void nc_temp_name_format(char out[NC_TEMP_NAME_BYTES], uint64_t instance, uint64_t number) {
    (void)snprintf(out, NC_TEMP_NAME_BYTES, "part-%016llx-%016llx", (unsigned long long)instance,
                   (unsigned long long)number);
}

/// Parses sixteen hex digits.
static bool parse_number(uint64_t *out, const char *text) {
    uint64_t number = 0;
    for (size_t i = 0; i < 16; i++) {
        int value = value_of(text[i]);
        if (value < 0) {
            return false;
        }
        number = number << 4 | (uint64_t)value;
    }
    *out = number;
    return true;
}

bool nc_temp_name_parse(uint64_t *instance, const char *text) {
    uint64_t number = 0;
    return strncmp(text, "part-", 5) == 0 && parse_number(instance, text + 5) && text[21] == '-' &&
           parse_number(&number, text + 22) && text[38] == '\0';
}

/* --- system calls --- */

#define NS_PER_MS 1000000

nc_status nc_store_fail(const nc_store *store, nc_error *err, int code, const char *name, const char *what) {
    return name == NULL ? nc_file_fail(err, store->path, what, code)
                        : nc_file_fail_in(err, store->path, name, what, code);
}

int nc_store_open_file(const nc_store *store, const char *name, int flags) {
    int fd = -1;
    struct stat info;
    const nc_state_folder folder = {
        .fd = store->directory_fd, .path = store->path, .files = store->files, .is_shared = store->is_shared};
    int code = nc_state_file_try(&fd, &info, &folder, name, flags);
    errno = code;
    return fd;
}

void nc_store_close_descriptor(const nc_store *store, int *fd) {
    nc_files_close_fd(&store->files, fd);
}

ssize_t nc_store_read(const nc_store *store, int fd, uint8_t *bytes, size_t length) {
    size_t at = 0;
    while (at < length) {
        ssize_t got = store->files.read(store->files.ctx, fd, bytes + at, length - at);
        if (got == 0) {
            break;
        }
        if (got > 0) {
            at += (size_t)got;
        } else if (errno != EINTR) {
            return -1;
        }
    }
    return (ssize_t)at;
}

ssize_t nc_store_read_at(const nc_store *store, int fd, uint8_t *bytes, size_t length, uint64_t offset) {
    return nc_files_read_at(&store->files, fd, bytes, length, offset);
}

int nc_store_write(const nc_store *store, int fd, nc_slice bytes) {
    size_t at = 0;
    while (at < bytes.length) {
        ssize_t wrote = store->files.write(store->files.ctx, fd, bytes.data + at, bytes.length - at);
        if (wrote > 0) {
            at += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            return wrote == 0 ? EIO : errno;
        }
    }
    return 0;
}

int nc_store_write_at(const nc_store *store, int fd, nc_slice bytes, uint64_t offset) {
    return nc_files_write_at(&store->files, fd, bytes, offset) ? 0 : errno;
}

int nc_store_sync(const nc_store *store, int fd) {
    return nc_files_sync(&store->files, fd) == 0 ? 0 : errno;
}

int nc_store_status(const nc_store *store, int fd, struct stat *out) {
    return nc_file_status(&store->files, fd, out) == 0 ? 0 : errno;
}

int nc_store_status_at(const nc_store *store, const char *name, struct stat *out) {
    return nc_files_status_at(&store->files, store->directory_fd, name, out) == 0 ? 0 : errno;
}

int nc_store_set_mode(const nc_store *store, int fd, const struct stat *info, mode_t mode) {
    int code = 0;
    while ((info->st_mode & 07777) != mode) {
        code = store->files.set_mode(store->files.ctx, fd, mode) == 0 ? 0 : errno;
        if (code != EINTR) {
            break;
        }
    }
    return code;
}

int nc_store_sync_directory(const nc_store *store) {
    return store->durability == NC_STORE_DURABILITY_FULL ? nc_store_sync(store, store->directory_fd) : 0;
}

static int unlink_once(const nc_store *store, const char *name, bool is_directory) {
    int code = 0;
    do {
        code = store->files.unlink_at(store->files.ctx, store->directory_fd, name, is_directory) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code == ENOENT ? 0 : code;
}

int nc_store_unlink(const nc_store *store, const char *name) {
    int code = unlink_once(store, name, false);
    // For a directory, POSIX specifies EPERM; Linux returns EISDIR.
    return code == EISDIR || code == EPERM ? unlink_once(store, name, true) : code;
}

bool nc_store_is_foreign(int code) {
    return code == ELOOP || code == ENXIO || code == EISDIR || code == ENODEV || code == EPERM || code == EINVAL ||
           code == EMLINK;
}

int64_t nc_store_now_ms(const nc_store *store) {
    return store->clock.realtime_ns(store->clock.ctx) / NS_PER_MS;
}
