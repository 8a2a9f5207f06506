#include "faulty.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- operations --- */

static pthread_mutex_t counting = PTHREAD_MUTEX_INITIALIZER;

/// The result of an operation.
typedef enum effect { PASS, FAIL, SHORTEN, KILL_AFTER } effect;

/// Returns true if this operation is to fail. A download uses two threads.
static bool is_chosen(faulty_files *files, const char *op) {
    pthread_mutex_lock(&counting);
    files->calls++;
    bool is_it = files->fail_at != 0 && files->calls == files->fail_at;
    if (is_it) {
        files->has_failed = true;
        files->failed_op = op;
    }
    pthread_mutex_unlock(&counting);
    return is_it;
}

static effect begin(faulty_files *files, const char *op) {
    if (!is_chosen(files, op)) {
        return PASS;
    }
    switch (files->code) {
    case FAULTY_SHORT:
        return SHORTEN;
    case FAULTY_KILL_BEFORE:
        (void)raise(SIGKILL);
        return PASS;
    case FAULTY_KILL_AFTER:
        return KILL_AFTER;
    default:
        return FAIL;
    }
}

static long end(const faulty_files *files, effect what, long result) {
    if (what == KILL_AFTER) {
        (void)raise(SIGKILL);
    }
    if (what == FAIL) {
        errno = files->code;
        return -1;
    }
    return result;
}

static void count_operation(faulty_files *files, char letter) {
    pthread_mutex_lock(&counting);
    files->writes += letter == 'w' ? 1 : 0;
    files->syncs += letter == 's' || letter == 'd' ? 1 : 0;
    if (files->log_length + 1 < sizeof files->log) {
        files->log[files->log_length++] = letter;
        files->log[files->log_length] = '\0';
    }
    pthread_mutex_unlock(&counting);
}

/// Makes the call unless the operation is to fail.
#define RUN(name, call)                                                                                                \
    faulty_files *files = ctx;                                                                                         \
    effect what = begin(files, name);                                                                                  \
    long result = what == FAIL ? -1 : (long)files->system.call;                                                        \
    return (int)end(files, what, result)

#define SHORT_OF(length) (what == SHORTEN && (length) > 1 ? (length) / 2 : (length))

static int faulty_open(void *ctx, const char *path, int flags, mode_t mode) {
    faulty_files *files = ctx;
    effect what = begin(files, "open");
    int fd = what == FAIL ? -1 : files->system.open(NULL, path, flags, mode);
    if ((flags & O_DIRECTORY) != 0) {
        files->directory_fd = fd;
    }
    return (int)end(files, what, fd);
}
static ssize_t faulty_read(void *ctx, int fd, void *bytes, size_t length) {
    RUN("read", read(NULL, fd, bytes, SHORT_OF(length)));
}
static ssize_t faulty_read_at(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    RUN("read_at", read_at(NULL, fd, bytes, SHORT_OF(length), offset));
}
static ssize_t faulty_write(void *ctx, int fd, const void *bytes, size_t length) {
    count_operation(ctx, 'w');
    RUN("write", write(NULL, fd, bytes, SHORT_OF(length)));
}
static ssize_t faulty_write_at(void *ctx, int fd, const void *bytes, size_t length, off_t offset) {
    count_operation(ctx, 'w');
    RUN("write_at", write_at(NULL, fd, bytes, SHORT_OF(length), offset));
}
static int faulty_sync(void *ctx, int fd) {
    count_operation(ctx, fd == ((faulty_files *)ctx)->directory_fd ? 'd' : 's');
    RUN("sync", sync(NULL, fd));
}
static int faulty_status(void *ctx, int fd, struct stat *out) {
    RUN("status", status(NULL, fd, out));
}
static int faulty_close(void *ctx, int fd) {
    // The descriptor is closed even if close(2) reports an error.
    faulty_files *files = ctx;
    count_operation(ctx, 'c');
    effect what = begin(files, "close");
    long result = files->system.close(NULL, fd);
    return (int)end(files, what, result);
}
static int faulty_set_mode(void *ctx, int fd, mode_t mode) {
    RUN("set_mode", set_mode(NULL, fd, mode));
}
static int faulty_set_owner(void *ctx, int fd, uid_t owner, gid_t group) {
    RUN("set_owner", set_owner(NULL, fd, owner, group));
}
static int faulty_set_time(void *ctx, int fd, int64_t realtime_ns) {
    ((faulty_files *)ctx)->set_times++;
    RUN("set_time", set_time(NULL, fd, realtime_ns));
}
static int faulty_lock(void *ctx, int fd, struct flock *range, bool is_asking) {
    RUN("lock", lock(NULL, fd, range, is_asking));
}
static int faulty_make_directory(void *ctx, const char *path, mode_t mode) {
    RUN("make_directory", make_directory(NULL, path, mode));
}
static int faulty_list(void *ctx, int directory_fd, nc_file_name_fn visit, void *visit_ctx) {
    ((faulty_files *)ctx)->lists++;
    RUN("list", list(NULL, directory_fd, visit, visit_ctx));
}
static int faulty_open_at(void *ctx, int directory_fd, const char *name, int flags, mode_t mode) {
    faulty_files *files = ctx;
    count_operation(ctx, 'o');
    effect what = begin(files, "open_at");
    int fd = what == FAIL ? -1 : files->system.open_at(NULL, directory_fd, name, flags, mode);
    return (int)end(files, what, fd);
}
static int faulty_status_at(void *ctx, int directory_fd, const char *name, struct stat *out) {
    RUN("status_at", status_at(NULL, directory_fd, name, out));
}
static int faulty_rename_at(void *ctx, int directory_fd, const char *from, const char *to) {
    count_operation(ctx, 'r');
    RUN("rename_at", rename_at(NULL, directory_fd, from, to));
}
static int faulty_unlink_at(void *ctx, int directory_fd, const char *name, bool is_directory) {
    count_operation(ctx, 'u');
    RUN("unlink_at", unlink_at(NULL, directory_fd, name, is_directory));
}

static int faulty_rename(void *ctx, const char *from, const char *to) {
    RUN("rename", rename(NULL, from, to));
}
static int faulty_unlink(void *ctx, const char *path) {
    RUN("unlink", unlink(NULL, path));
}
static int faulty_move_at(void *ctx, int directory_fd, const char *name, const char *path, bool replaces) {
    count_operation(ctx, 'r');
    RUN("move_at", move_at(NULL, directory_fd, name, path, replaces));
}
static int faulty_truncate(void *ctx, int fd, off_t length) {
    RUN("truncate", truncate(NULL, fd, length));
}
static int faulty_allocate(void *ctx, int fd, off_t length) {
    RUN("allocate", allocate(NULL, fd, length));
}

void faulty_init(faulty_files *files) {
    *files = (faulty_files){.system = nc_file_ops_system(), .directory_fd = -1};
    files->ops = (nc_file_ops){
        .ctx = files,
        .open = faulty_open,
        .read = faulty_read,
        .read_at = faulty_read_at,
        .write = faulty_write,
        .sync = faulty_sync,
        .status = faulty_status,
        .close = faulty_close,
        .rename = faulty_rename,
        .unlink = faulty_unlink,
        .write_at = faulty_write_at,
        .set_mode = faulty_set_mode,
        .set_time = faulty_set_time,
        .lock = faulty_lock,
        .make_directory = faulty_make_directory,
        .list = faulty_list,
        .open_at = faulty_open_at,
        .status_at = faulty_status_at,
        .rename_at = faulty_rename_at,
        .unlink_at = faulty_unlink_at,
        .move_at = faulty_move_at,
        .truncate = faulty_truncate,
        .allocate = faulty_allocate,
        .set_owner = faulty_set_owner,
    };
}

void faulty_arm(faulty_files *files, uint64_t nth, int code) {
    files->fail_at = nth == 0 ? 0 : files->calls + nth;
    files->code = code;
    files->has_failed = false;
    files->failed_op = "";
    files->log_length = 0;
    files->log[0] = '\0';
}

/* --- places --- */

temp_directory temp_directory_make(void) {
    temp_directory at;
    const char *parent = getenv("TMPDIR");
    int length = snprintf(at.root, sizeof at.root, "%s/netcore-store-XXXXXX", parent == NULL ? "/tmp" : parent);
    assert_true(length > 0 && (size_t)length < sizeof at.root);
    assert_non_null(mkdtemp(at.root));
    snprintf(at.store, sizeof at.store, "%s/store", at.root);
    return at;
}

static int remove_one(const char *path, const struct stat *info, int kind, struct FTW *walk) {
    (void)info;
    (void)kind;
    (void)walk;
    return remove(path);
}

void temp_directory_remove(const temp_directory *at) {
    assert_int_equal(nftw(at->root, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

const char *temp_directory_path(const char *directory, const char *name) {
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/// Counts names that `wanted` accepts. The last one's path stays in temp_directory_path()'s storage.
static size_t count_names(const char *directory, bool (*wanted)(const char *name)) {
    DIR *open = opendir(directory);
    assert_non_null(open);
    size_t count = 0;
    const struct dirent *one = NULL;
    while ((one = readdir(open)) != NULL) {
        if (strcmp(one->d_name, ".") != 0 && strcmp(one->d_name, "..") != 0 && wanted(one->d_name)) {
            (void)temp_directory_path(directory, one->d_name);
            count++;
        }
    }
    closedir(open);
    return count;
}

static bool is_any(const char *name) {
    (void)name;
    return true;
}
static bool is_entry(const char *name) {
    return strlen(name) == 34 && name[32] == '.' && strspn(name, "0123456789abcdef") == 32;
}
static bool is_part(const char *name) {
    return strncmp(name, "part-", 5) == 0;
}

size_t temp_directory_count(const char *directory) {
    return count_names(directory, is_any);
}

const char *temp_directory_entry(const char *directory) {
    static char found[512];
    DIR *open = opendir(directory);
    assert_non_null(open);
    found[0] = '\0';
    const struct dirent *one = NULL;
    while (found[0] == '\0' && (one = readdir(open)) != NULL) {
        if (is_entry(one->d_name)) {
            snprintf(found, sizeof found, "%s/%s", directory, one->d_name);
        }
    }
    closedir(open);
    return found[0] == '\0' ? NULL : found;
}

size_t temp_directory_count_temp_files(const char *directory) {
    return count_names(directory, is_part);
}

nc_buf temp_file_read(const char *path) {
    nc_buf out = nc_buf_init(SIZE_MAX / 2);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    uint8_t piece[65536];
    size_t length;
    while ((length = fread(piece, 1, sizeof piece, file)) > 0) {
        nc_buf_append(&out, nc_slice_make(piece, length));
    }
    assert_int_equal(fclose(file), 0);
    assert_status(nc_buf_status(&out), NC_OK);
    return out;
}

void temp_file_write(const char *path, nc_slice bytes) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.data, bytes.length), (ssize_t)bytes.length);
    assert_int_equal(close(fd), 0);
}
