#include "base/alloc.h"
#include "base/error.h"
#include "store/state.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netcore/state_file.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0700, LOCK_MODE = 0600, MAX_DRAWS = 8, MAX_HOME_BYTES = 16384 };

/// File offsets are signed.
#define MAX_INSTANCE (UINT64_MAX >> 2)

/* --- the default directory --- */

static bool is_one_name(const char *app) {
    for (const char *at = app; *at != '\0'; at++) {
        if (*at == '/' || (unsigned char)*at < 0x20 || *at == 0x7F) {
            return false;
        }
    }
    return app[0] != '\0' && strcmp(app, ".") != 0 && strcmp(app, "..") != 0;
}

/// The XDG base directory specification requires that relative paths are ignored.
static const char *absolute(const char *path) {
    return path != NULL && path[0] == '/' ? path : NULL;
}

static nc_status append_home(nc_buf *out, nc_error *err) {
    const char *home = absolute(getenv("HOME"));
    if (home != NULL) {
        nc_buf_append(out, nc_slice_of(home));
        return NC_OK;
    }
    char *room = nc_alloc(MAX_HOME_BYTES);
    if (room == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path");
    }
    struct passwd user;
    struct passwd *found = NULL;
    bool has_home = getpwuid_r(geteuid(), &user, room, MAX_HOME_BYTES, &found) == 0 && found != NULL &&
                    absolute(user.pw_dir) != NULL;
    if (has_home) {
        nc_buf_append(out, nc_slice_of(user.pw_dir));
    }
    nc_free(room);
    return has_home ? NC_OK : nc_error_set(err, NC_ERR_USAGE, 0, -1, "neither XDG_CACHE_HOME nor HOME tells a place");
}

nc_status nc_store_default_directory(nc_buf *out, const char *app, nc_error *err) {
    if (app == NULL || out == NULL || !is_one_name(app)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the application's name cannot be a directory's");
    }
    size_t before = out->length;
    const char *cache = absolute(getenv("XDG_CACHE_HOME"));
    if (cache != NULL) {
        nc_buf_append(out, nc_slice_of(cache));
    } else {
        nc_status status = append_home(out, err);
        if (status != NC_OK) {
            return status;
        }
        nc_buf_append(out, nc_slice_of("/.cache"));
    }
    nc_buf_append(out, nc_slice_of("/"));
    nc_buf_append(out, nc_slice_of(app));
    nc_buf_append(out, nc_slice_make("/netkit", sizeof "/netkit"));
    if (nc_buf_status(out) != NC_OK) {
        out->length = before;
        return nc_error_set(err, out->status, 0, -1, "the path does not fit");
    }
    out->length--; // the NUL stays after the text
    return nc_error_clear(err);
}

/* --- the directory --- */

static int make_directory(const nc_store *store, const char *path) {
    int code = 0;
    do {
        code = store->files.make_directory(store->files.ctx, path, DIRECTORY_MODE) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code == EEXIST ? 0 : code;
}

/// Creates the directory and its missing parents. Returns 0 or errno.
static int make_directories(const nc_store *store) {
    int code = make_directory(store, store->path);
    if (code != ENOENT) {
        return code;
    }
    for (char *at = strchr(store->path + 1, '/'); at != NULL; at = strchr(at + 1, '/')) {
        *at = '\0';
        code = make_directory(store, store->path);
        *at = '/';
        // On a read-only file system the directory can exist although it cannot be made. Opening it decides.
        if (code == ENOSPC || code == EDQUOT || code == EIO) {
            return code;
        }
    }
    return make_directory(store, store->path);
}

static bool visit_until_foreign(void *ctx, const char *text) {
    nc_store_name name;
    uint64_t instance = 0;
    bool *is_foreign = ctx;
    *is_foreign = !nc_entry_name_parse(&name, text) && !nc_part_name_parse(&instance, text) &&
                  strcmp(text, NC_STORE_LOCK_NAME) != 0 && strcmp(text, NC_STORE_TAG_NAME) != 0;
    return !*is_foreign;
}

/// Restricts a directory of our own to this user. A directory with other content keeps its mode, and is refused if
/// other users can create files in it: their files would be verified, counted and removed with the store's.
static nc_status set_mode(const nc_store *store, const struct stat *info, nc_error *err) {
    const nc_file_ops *files = &store->files;
    bool has_foreign = false;
    int code = 0;
    if ((info->st_mode & 07777) == DIRECTORY_MODE) {
        return NC_OK;
    }
    do {
        code = files->list(files->ctx, store->directory_fd, visit_until_foreign, &has_foreign) == 0 ? 0 : errno;
    } while (code == EINTR);
    if (code == 0 && !has_foreign) {
        code = nc_store_set_mode(store, store->directory_fd, info, DIRECTORY_MODE);
    }
    if (code != 0) {
        return nc_store_fail(store, err, code, NULL, "kept from other users");
    }
    return !has_foreign || (info->st_mode & 022) == 0
               ? NC_OK
               : nc_error_set(err, NC_ERR_FILE, EPERM, -1, "'%s' holds other files, and others may write to it",
                              store->path);
}

static nc_status open_directory(nc_store *store, nc_error *err) {
    nc_state_folder folder;
    struct stat info;
    int made = make_directories(store);
    nc_status status = nc_state_folder_open(&folder, store->path, &store->files, err);
    if (status == NC_ERR_FILE && made != 0 && err != NULL && err->native_code == ENOENT) {
        return nc_store_fail(store, err, made, NULL, "opened");
    }
    if (status != NC_OK) {
        return status;
    }
    store->directory_fd = folder.fd;
    store->is_shared = folder.is_shared;
    int code = nc_store_status(store, store->directory_fd, &info);
    return code != 0 ? nc_store_fail(store, err, code, NULL, "examined") : set_mode(store, &info, err);
}

/* --- locks --- */

static int open_lock_file(nc_store *store) {
    struct stat info;
    store->lock_fd = nc_store_open_file(store, NC_STORE_LOCK_NAME, O_RDWR | O_CREAT);
    if (store->lock_fd < 0) {
        return errno;
    }
    int code = nc_store_status(store, store->lock_fd, &info);
    return code == 0 ? nc_store_set_mode(store, store->lock_fd, &info, LOCK_MODE) : code;
}

static int lock(const nc_store *store, struct flock *range, bool is_asking) {
    int code = 0;
    do {
        code = store->files.lock(store->files.ctx, store->lock_fd, range, is_asking) == 0 ? 0 : errno;
    } while (code == EINTR);
    return code;
}

/// Returns a lock range of one byte, or of the whole file for UINT64_MAX.
static struct flock range_of(uint64_t instance) {
    return (struct flock){
        .l_type = F_WRLCK,
        .l_whence = SEEK_SET,
        .l_start = instance == UINT64_MAX ? 0 : (off_t)instance,
        .l_len = instance == UINT64_MAX ? 0 : 1,
    };
}

static void close_descriptor(const nc_store *store, int *fd) {
    if (*fd >= 0) {
        (void)store->files.close(store->files.ctx, *fd);
        *fd = -1;
    }
}

/// Draws a number and locks its byte. A system without such locks is not a failure: other stores are then unknown.
static nc_status take_number(nc_store *store, nc_error *err) {
    int code = EAGAIN;
    for (int i = 0; i < MAX_DRAWS && (code == EAGAIN || code == EACCES); i++) {
        if (!store->random.fill(store->random.ctx, (uint8_t *)&store->instance, sizeof store->instance)) {
            return nc_error_set(err, NC_ERR_FILE, 0, -1, "no random bytes for a file name");
        }
        store->instance &= MAX_INSTANCE;
        struct flock range = range_of(store->instance);
        code = lock(store, &range, false);
    }
    if (code != 0) {
        close_descriptor(store, &store->lock_fd);
    }
    return NC_OK;
}

/// Opens the directory and its lock file.
static nc_status open_both(nc_store *store, nc_error *err) {
    nc_status status = open_directory(store, err);
    if (status != NC_OK) {
        return status;
    }
    int code = open_lock_file(store);
    if (code != 0 && nc_store_is_foreign(code)) {
        (void)nc_store_unlink(store, NC_STORE_LOCK_NAME);
        code = open_lock_file(store);
    }
    return code == 0 ? NC_OK : nc_store_fail(store, err, code, NC_STORE_LOCK_NAME, "opened");
}

nc_status nc_store_open_place(nc_store *store, nc_error *err) {
    nc_status status = open_both(store, err);
    return status == NC_OK ? take_number(store, err) : status;
}

/* --- a removed directory --- */

bool nc_store_is_removed(const nc_store *store) {
    struct stat info;
    return nc_store_status(store, store->directory_fd, &info) == 0 && info.st_nlink == 0;
}

/// Replaces a descriptor atomically for the threads that use it. Returns 0 or errno.
static int replace_descriptor(int from, int to) {
#ifdef __linux__
    return dup3(from, to, O_CLOEXEC) < 0 ? errno : 0;
#else
    return dup2(from, to) < 0 || fcntl(to, F_SETFD, FD_CLOEXEC) < 0 ? errno : 0;
#endif
}

/// Replaces the lock first, so that a file in the new directory is never without a lock.
static int take_over(nc_store *store, const nc_store *fresh) {
    int code = 0;
    if (store->lock_fd >= 0) {
        struct flock range = range_of(store->instance);
        code = lock(fresh, &range, false);
        code = code == 0 ? replace_descriptor(fresh->lock_fd, store->lock_fd) : code;
    }
    return code == 0 ? replace_descriptor(fresh->directory_fd, store->directory_fd) : code;
}

static nc_status reopen(nc_store *store, nc_error *err) {
    nc_store fresh = {.files = store->files,
                      .durability = store->durability,
                      .path = nc_alloc(strlen(store->path) + 1),
                      .directory_fd = -1,
                      .lock_fd = -1};
    if (fresh.path == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path");
    }
    memcpy(fresh.path, store->path, strlen(store->path) + 1);
    nc_status status = open_both(&fresh, err);
    if (status == NC_OK) {
        int code = take_over(store, &fresh);
        status = code == 0 ? NC_OK : nc_store_fail(store, err, code, NULL, "opened");
    }
    close_descriptor(&fresh, &fresh.lock_fd);
    close_descriptor(&fresh, &fresh.directory_fd);
    nc_free(fresh.path);
    return status;
}

nc_status nc_store_revive(nc_store *store, nc_error *err) {
    uint64_t foreign = 0;
    pthread_mutex_lock(&store->place_mutex);
    // Another thread may have reopened it.
    bool is_removed = nc_store_is_removed(store);
    nc_status status = is_removed ? reopen(store, err) : NC_OK;
    if (status == NC_OK && is_removed) {
        status = nc_store_scan(store, NULL, &foreign, err);
    }
    if (status == NC_OK && is_removed && foreign == 0) {
        nc_store_write_tag(store);
    }
    pthread_mutex_unlock(&store->place_mutex);
    return status;
}

bool nc_store_is_alive(const nc_store *store, uint64_t instance) {
    if (store->lock_fd < 0 || instance > MAX_INSTANCE) {
        return store->lock_fd < 0;
    }
    struct flock range = range_of(instance);
    return lock(store, &range, true) != 0 || range.l_type != F_UNLCK;
}

bool nc_store_is_shared(const nc_store *store) {
    struct flock range = range_of(UINT64_MAX);
    return store->lock_fd >= 0 && lock(store, &range, true) == 0 && range.l_type != F_UNLCK;
}

void nc_store_write_tag(nc_store *store) {
    static const char text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# This directory holds NetKit's cache: programs that make backups may leave it out.\n"
                               "# See https://bford.info/cachedir/\n";
    struct stat info;
    const nc_file_ops *files = &store->files;
    nc_store_part part;
    if (nc_store_status_at(store, NC_STORE_TAG_NAME, &info) != ENOENT ||
        nc_store_part_open(&part, store, NULL) != NC_OK) {
        return;
    }
    bool is_written = nc_store_write(store, part.fd, nc_slice_make(text, sizeof text - 1)) == 0;
    if (!is_written || nc_store_part_close(&part, store, NULL) != NC_OK ||
        files->rename_at(files->ctx, store->directory_fd, part.name, NC_STORE_TAG_NAME) != 0) {
        nc_store_part_drop(&part, store);
    }
}
