#include "transfer/body_files.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "base/worker.h"
#include "state/engine_record.h"
#include "state/mailbox.h"
#include "state/transfer_state.h"
#include "transfer/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum { NEW_FILE_MODE = 0666, OWNER_RW = 0600 };

/* --- on a worker thread --- */

static nc_status open_upload(nc_files *files, const nc_file_ops *ops, const char *path) {
    struct stat info;
    // A FIFO without a writer would otherwise block the thread.
    files->upload_fd = nc_file_open(ops, path, O_RDONLY | O_NONBLOCK, 0);
    if (files->upload_fd < 0) {
        return nc_file_fail(&files->error, path, "opened", errno);
    }
    if (nc_file_status(ops, files->upload_fd, &info) != 0) {
        return nc_file_fail(&files->error, path, "examined", errno);
    }
    if (!S_ISREG(info.st_mode)) {
        return nc_error_set(&files->error, NC_ERR_FILE, S_ISDIR(info.st_mode) ? EISDIR : ESPIPE, -1,
                            "'%s' is not a regular file: send it with a body source", path);
    }
    // A file in /proc reports a size of 0 although it has bytes.
    char first;
    if (info.st_size == 0 && nc_files_read_at(ops, files->upload_fd, &first, 1, 0) > 0) {
        return nc_error_set(&files->error, NC_ERR_FILE, ESPIPE, -1,
                            "the size of '%s' is unknown: send it with a body source", path);
    }
    uint64_t offset = files->transfer->request.body_offset;
    if (offset > (uint64_t)info.st_size) {
        return nc_error_set(&files->error, NC_ERR_USAGE, 0, -1, "the body begins at byte %llu, but '%s' has only %llu",
                            (unsigned long long)offset, path, (unsigned long long)info.st_size);
    }
    files->upload_bytes = (uint64_t)info.st_size - offset;
    return NC_OK;
}

/// A write to a pipe may block until its reader reads, and the event loop must not block.
static nc_status refuse_pipe(nc_files *files, const char *path) {
    return nc_error_set(&files->error, NC_ERR_FILE, ESPIPE, -1,
                        "'%s' is a pipe or a socket: receive the body in a callback instead", path);
}

/// Opens the destination if it is a device. A device is written in place, because a rename would destroy it. If the
/// destination is a regular file, describes it in `old`; otherwise the mode in `old` is 0.
static nc_status open_in_place(nc_files *files, const nc_file_ops *ops, const char *path, struct stat *old) {
    int fd = nc_file_open(ops, path, O_WRONLY | O_NONBLOCK, 0);
    if (fd < 0 && errno == ETXTBSY) {
        // The file is a running program. It can be replaced, because the program continues with the old file.
        fd = nc_file_open(ops, path, O_RDONLY | O_NONBLOCK, 0);
    }
    if (fd < 0) {
        // These two errors mean that there is no file to replace. After any other error, a file may exist that must not
        // be replaced unchecked. It may be a device, a private file, or a read-only file (a rename needs only the
        // directory's permissions).
        bool is_free = errno == ENOENT || errno == ELOOP;
        return is_free          ? NC_OK
               : errno == ENXIO ? refuse_pipe(files, path)
                                : nc_file_fail(&files->error, path, "written", errno);
    }
    int code = nc_file_status(ops, fd, old) == 0 ? 0 : errno;
    if (code == 0 && (S_ISCHR(old->st_mode) || S_ISBLK(old->st_mode))) {
        files->save_fd = fd;
        return NC_OK;
    }
    (void)ops->close(ops->ctx, fd);
    if (code != 0) {
        return nc_file_fail(&files->error, path, "examined", code);
    }
    if (S_ISFIFO(old->st_mode)) {
        return refuse_pipe(files, path);
    }
    old->st_mode = S_ISREG(old->st_mode) ? old->st_mode : 0;
    return NC_OK;
}

/// Creates the temporary file that will replace the old one. It gets the old file's permissions before its first byte
/// is written. Returns NC_OK or the status in files->error.
static nc_status open_temp_file(nc_files *files, const nc_file_ops *ops, const char *temp_path, const char *path,
                                const struct stat *old) {
    bool replaces = old->st_mode != 0;
    mode_t mode = replaces ? (old->st_mode & NEW_FILE_MODE) | OWNER_RW : NEW_FILE_MODE;
    files->save_fd = nc_file_open(ops, temp_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    if (files->save_fd < 0) {
        return nc_file_fail(&files->error, path, "written", errno);
    }
    // EPERM and EOPNOTSUPP are ignored: on a file system without such permissions, the old file had none to keep.
    if (replaces && nc_files_set_rights(ops, files->save_fd, old) != 0 && errno != EPERM && errno != EOPNOTSUPP) {
        nc_status status = nc_file_fail(&files->error, path, "given the permissions of the file it replaces", errno);
        (void)ops->close(ops->ctx, files->save_fd);
        files->save_fd = -1;
        (void)ops->unlink(ops->ctx, temp_path);
        return status;
    }
    return NC_OK;
}

static nc_status open_save(nc_files *files, const nc_file_ops *ops, const char *path) {
    struct stat old = {0};
    nc_status status = open_in_place(files, ops, path, &old);
    if (status != NC_OK || files->save_fd >= 0) {
        return status;
    }
    char *temp_path = nc_alloc(strlen(path) + NC_FILE_BESIDE_BYTES);
    if (temp_path == NULL) {
        return nc_error_set(&files->error, NC_ERR_NO_MEMORY, 0, -1, "no memory for a file name");
    }
    if (!nc_file_name_beside(temp_path, path)) {
        nc_free(temp_path);
        return nc_error_set(&files->error, NC_ERR_FILE, 0, -1,
                            "the system's random generator failed: cannot choose a temporary file name");
    }
    status = open_temp_file(files, ops, temp_path, path, &old);
    if (status != NC_OK) {
        nc_free(temp_path);
        return status;
    }
    files->temp_path = temp_path;
    return NC_OK;
}

static void do_open(nc_work *work) {
    nc_files *files = NC_CONTAINER_OF(work, nc_files, work);
    const nc_file_ops *ops = &files->transfer->engine->files;
    const nc_copied_options *options = files->transfer->request.options;
    nc_status status = NC_OK;
    if (options != NULL && options->body_file != NULL) {
        status = open_upload(files, ops, options->body_file);
    }
    if (nc_form_upload_has_files(files->transfer->form)) {
        status = nc_form_upload_measure(files->transfer->form, &files->error);
    }
    if (status == NC_OK && options != NULL && options->save_path != NULL) {
        (void)open_save(files, ops, options->save_path);
    }
    nc_mailbox_put_result(files->transfer->engine, &files->result);
}

static void close_one(const nc_file_ops *ops, int *fd) {
    if (*fd >= 0) {
        (void)ops->close(ops->ctx, *fd);
        *fd = -1;
    }
}

/// Renames a file. Repeats the call if a signal interrupts it, which happens on network file systems.
static int rename_retrying(const nc_file_ops *ops, const char *from, const char *to) {
    int result = 0;
    do {
        result = ops->rename(ops->ctx, from, to);
    } while (result != 0 && errno == EINTR);
    return result;
}

static void close_all(nc_files *files) {
    const nc_file_ops *ops = &files->transfer->engine->files;
    close_one(ops, &files->upload_fd);
    if (files->save_fd >= 0) {
        // Network file systems report a full disk only when a file is closed.
        bool is_closed = ops->close(ops->ctx, files->save_fd) == 0 || errno == EINTR;
        files->save_fd = -1;
        if (!is_closed && files->keeps) {
            (void)nc_file_fail(&files->error, files->transfer->request.options->save_path, "written", errno);
        }
    }
    if (files->temp_path == NULL) {
        return;
    }
    const char *path = files->transfer->request.options->save_path;
    bool is_kept = files->keeps && files->error.status == NC_OK;
    if (is_kept && rename_retrying(ops, files->temp_path, path) != 0) {
        (void)nc_file_fail(&files->error, path, "replaced", errno);
        is_kept = false;
    }
    if (!is_kept) {
        (void)ops->unlink(ops->ctx, files->temp_path);
    }
    nc_free(files->temp_path);
    files->temp_path = NULL;
}

static void do_open_part(nc_work *work) {
    nc_files *files = NC_CONTAINER_OF(work, nc_files, work);
    nc_form_upload_open(files->transfer->form);
    nc_mailbox_put_result(files->transfer->engine, &files->result);
}

static void do_close(nc_work *work) {
    nc_files *files = NC_CONTAINER_OF(work, nc_files, work);
    close_all(files);
    nc_mailbox_put_result(files->transfer->engine, &files->result);
}

/* --- on the loop thread --- */

nc_status nc_files_new(nc_files **out, nc_transfer *transfer, nc_error *err) {
    const nc_copied_options *options = transfer->request.options;
    *out = NULL;
    bool has_own = options != NULL && (options->body_file != NULL || options->save_path != NULL);
    if (!has_own && !nc_form_upload_has_files(transfer->form)) {
        return NC_OK;
    }
    nc_files *files = nc_alloc_zeroed(1, sizeof *files);
    if (files == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a request with files");
    }
    files->transfer = transfer;
    files->upload_fd = -1;
    files->save_fd = -1;
    (void)nc_error_clear(&files->error);
    *out = files;
    return NC_OK;
}

void nc_files_free(nc_files *files) {
    nc_free(files);
}

static void opened(nc_worker_result *result) {
    nc_files *files = NC_CONTAINER_OF(result, nc_files, result);
    files->is_working = false;
    files->is_open = true;
    files->transfer->engine->events->files_opened(files->transfer);
}

static void part_opened(nc_worker_result *result) {
    nc_files *files = NC_CONTAINER_OF(result, nc_files, result);
    files->is_working = false;
    nc_form_upload_opened(files->transfer->form);
    files->transfer->engine->events->part_opened(files->transfer);
}

static void closed(nc_worker_result *result) {
    nc_files *files = NC_CONTAINER_OF(result, nc_files, result);
    files->is_working = false;
    files->is_open = false;
    files->transfer->engine->events->files_closed(files->transfer);
}

static void ask(nc_files *files, void (*run)(nc_work *), void (*arrive)(nc_worker_result *)) {
    files->is_working = true;
    files->work.run = run;
    files->result.arrive = arrive;
    if (nc_worker_submit(files->transfer->engine->worker, &files->work) != NC_OK) {
        // No worker thread can be started, so the task blocks the event loop. That is better than an incomplete file.
        run(&files->work);
    }
}

void nc_files_open(nc_files *files) {
    ask(files, do_open, opened);
}

void nc_files_open_part(nc_files *files) {
    if (!files->is_working && nc_form_upload_wants_file(files->transfer->form)) {
        ask(files, do_open_part, part_opened);
    }
}

void nc_files_close(nc_files *files, bool keeps) {
    files->keeps = keeps;
    ask(files, do_close, closed);
}

nc_status nc_files_write(nc_files *files, nc_slice bytes) {
    const nc_file_ops *ops = &files->transfer->engine->files;
    size_t at = 0;
    while (at < bytes.length) {
        ssize_t wrote = ops->write(ops->ctx, files->save_fd, bytes.data + at, bytes.length - at);
        if (wrote < 0 && errno == EINTR) {
            continue;
        }
        if (wrote <= 0) {
            int code = wrote == 0 ? EIO : errno;
            return nc_transfer_record_error(files->transfer, nc_error_of_file(code), code, "'%s' cannot be written: %s",
                                            files->transfer->request.options->save_path, strerror(code));
        }
        at += (size_t)wrote;
    }
    return NC_OK;
}
