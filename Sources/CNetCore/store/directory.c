#include "base/alloc.h"
#include "base/error.h"
#include "store/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netcore/state_file.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DIRECTORY_MODE = 0700, MAX_HOME_BYTES = 16384 };

/* --- the default directory --- */

static bool is_one_name(const char *app) {
    for (const char *at = app; *at != '\0'; at++) {
        if (*at == '/' || (unsigned char)*at < 0x20 || *at == 0x7F) {
            return false;
        }
    }
    return app[0] != '\0' && strcmp(app, ".") != 0 && strcmp(app, "..") != 0;
}

/// Returns the path if it is absolute, otherwise NULL. Relative paths must be ignored (XDG base directory
/// specification).
static const char *absolute_or_null(const char *path) {
    return path != NULL && path[0] == '/' ? path : NULL;
}

static nc_status append_home(nc_buf *out, nc_error *err) {
    const char *home = absolute_or_null(getenv("HOME"));
    if (home != NULL) {
        nc_buf_append(out, nc_slice_of(home));
        return NC_OK;
    }
    char *user_buffer = nc_alloc(MAX_HOME_BYTES);
    if (user_buffer == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path");
    }
    struct passwd user;
    struct passwd *found = NULL;
    bool has_home = getpwuid_r(geteuid(), &user, user_buffer, MAX_HOME_BYTES, &found) == 0 && found != NULL &&
                    absolute_or_null(user.pw_dir) != NULL;
    if (has_home) {
        nc_buf_append(out, nc_slice_of(user.pw_dir));
    }
    nc_free(user_buffer);
    return has_home
               ? NC_OK
               : nc_error_set(err, NC_ERR_USAGE, 0, -1, "cannot find the cache directory: set XDG_CACHE_HOME or HOME");
}

nc_status nc_store_default_directory(nc_buf *out, const char *app, nc_error *err) {
    if (app == NULL || out == NULL || !is_one_name(app)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the application name is not valid as a directory name");
    }
    size_t before = out->length;
    const char *cache = absolute_or_null(getenv("XDG_CACHE_HOME"));
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
        return nc_error_set(err, out->status, 0, -1, "the path of the cache directory is too long");
    }
    out->length--; // not counted: the NUL stays behind the text
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
        // Other errors are ignored here: on a read-only file system, mkdir(2) can fail although the directory exists.
        // If it does not, opening it fails later.
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
    *is_foreign = !nc_entry_name_parse(&name, text) && !nc_temp_name_parse(&instance, text) &&
                  strcmp(text, NC_STORE_LOCK_NAME) != 0 && strcmp(text, NC_STORE_TAG_NAME) != 0;
    return !*is_foreign;
}

/// Sets the mode of a directory to 0700 if it contains only files of stores. A directory with other files keeps its
/// mode. It is refused if other users can create files in it, because the store would verify, count and remove their
/// files like its own.
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
        return nc_store_fail(store, err, code, NULL, "restricted to this user");
    }
    return !has_foreign || (info->st_mode & 022) == 0
               ? NC_OK
               : nc_error_set(err, NC_ERR_FILE, EPERM, -1,
                              "'%s' contains other files, and other users can write to it: choose another directory "
                              "for the cache",
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

/// Opens the directory and the lock file in it.
static nc_status open_with_lock_file(nc_store *store, nc_error *err) {
    nc_status status = open_directory(store, err);
    return status == NC_OK ? nc_store_lock_open(store, err) : status;
}

nc_status nc_store_open_directory(nc_store *store, nc_error *err) {
    nc_status status = open_with_lock_file(store, err);
    return status == NC_OK ? nc_store_lock_choose(store, err) : status;
}

/* --- a removed directory --- */

bool nc_store_is_removed(const nc_store *store) {
    struct stat info;
    return nc_store_status(store, store->directory_fd, &info) == 0 && info.st_nlink == 0;
}

/// Makes `to` refer to the file of `from`, atomically for other threads that use `to`. Returns 0 or errno.
static int replace_descriptor(int from, int to) {
#ifdef __linux__
    return dup3(from, to, O_CLOEXEC) < 0 ? errno : 0;
#else
    return dup2(from, to) < 0 || fcntl(to, F_SETFD, FD_CLOEXEC) < 0 ? errno : 0;
#endif
}

/// Makes the store use the directory and lock file of `recreated`. The lock comes first, so that the store never writes
/// a file to the new directory without holding its lock.
static int take_over(nc_store *store, const nc_store *recreated) {
    int code = 0;
    if (store->lock_fd >= 0) {
        code = nc_store_lock_take(recreated, store->instance);
        code = code == 0 ? replace_descriptor(recreated->lock_fd, store->lock_fd) : code;
    }
    return code == 0 ? replace_descriptor(recreated->directory_fd, store->directory_fd) : code;
}

static nc_status reopen(nc_store *store, nc_error *err) {
    nc_store recreated = {.files = store->files,
                          .durability = store->durability,
                          .path = nc_alloc(strlen(store->path) + 1),
                          .directory_fd = -1,
                          .lock_fd = -1};
    if (recreated.path == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path");
    }
    memcpy(recreated.path, store->path, strlen(store->path) + 1);
    nc_status status = open_with_lock_file(&recreated, err);
    if (status == NC_OK) {
        int code = take_over(store, &recreated);
        status = code == 0 ? NC_OK : nc_store_fail(store, err, code, NULL, "opened");
    }
    nc_store_close_descriptor(&recreated, &recreated.lock_fd);
    nc_store_close_descriptor(&recreated, &recreated.directory_fd);
    nc_free(recreated.path);
    return status;
}

nc_status nc_store_recreate_directory(nc_store *store, nc_error *err) {
    uint64_t foreign = 0;
    pthread_mutex_lock(&store->directory_mutex);
    // Another thread may already have recreated it.
    bool is_removed = nc_store_is_removed(store);
    nc_status status = is_removed ? reopen(store, err) : NC_OK;
    if (status == NC_OK && is_removed) {
        status = nc_store_scan(store, NULL, &foreign, err);
    }
    if (status == NC_OK && is_removed && foreign == 0) {
        nc_store_write_tag(store);
    }
    pthread_mutex_unlock(&store->directory_mutex);
    return status;
}

void nc_store_write_tag(nc_store *store) {
    static const char text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# This directory holds NetKit's cache: programs that make backups may leave it out.\n"
                               "# See https://bford.info/cachedir/\n";
    struct stat info;
    const nc_file_ops *files = &store->files;
    nc_store_temp_file temp_file;
    if (nc_store_status_at(store, NC_STORE_TAG_NAME, &info) != ENOENT ||
        nc_store_temp_file_open(&temp_file, store, NULL) != NC_OK) {
        return;
    }
    bool is_written = nc_store_write(store, temp_file.fd, nc_slice_make(text, sizeof text - 1)) == 0;
    if (!is_written || nc_store_temp_file_close(&temp_file, store, NULL) != NC_OK ||
        files->rename_at(files->ctx, store->directory_fd, temp_file.name, NC_STORE_TAG_NAME) != 0) {
        nc_store_temp_file_drop(&temp_file, store);
    }
}
