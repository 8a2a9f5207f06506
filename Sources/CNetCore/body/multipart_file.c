#include <netcore/multipart.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/file.h"
#include "body/multipart.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/// The size of one read and write.
enum { PIECE_BYTES = 128 * 1024, NEW_FILE_MODE = 0666, MAX_PATH_BYTES = 4095 };

static nc_status write_piece(const nc_file_ops *ops, int fd, const char *path, nc_slice piece, nc_error *err) {
    for (size_t at = 0; at < piece.length;) {
        ssize_t wrote = ops->write(ops->ctx, fd, piece.data + at, piece.length - at);
        if (wrote > 0) {
            at += (size_t)wrote;
        } else if (wrote == 0 || errno != EINTR) {
            return nc_file_fail(err, path, "written", wrote == 0 ? EIO : errno);
        }
    }
    return NC_OK;
}

static nc_status copy(nc_multipart_reader *reader, int fd, const char *path, nc_error *err) {
    const nc_file_ops *ops = &reader->form->files;
    uint8_t *piece = nc_alloc(PIECE_BYTES);
    nc_status status = piece != NULL ? NC_OK : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to write a form");
    for (nc_pull pulled = NC_PULL_MORE; status == NC_OK && pulled != NC_PULL_END;) {
        size_t filled = 0;
        pulled = nc_multipart_read(reader, 0, piece, PIECE_BYTES, &filled);
        if (pulled == NC_PULL_FAIL) {
            status = nc_multipart_reader_error(reader, err);
        } else if (pulled == NC_PULL_LATER) {
            status = nc_error_set(
                err, NC_ERR_BAD_PART, 0, -1,
                "a body source returned NC_PULL_LATER, which is not supported when a form is written to a file");
        } else {
            status = write_piece(ops, fd, path, nc_slice_make(piece, filled), err);
        }
    }
    nc_free(piece);
    return status;
}

/// Refuses a device, a pipe and a socket, because the rename would replace it. The rename itself refuses a directory.
static nc_status check_destination(const nc_file_ops *ops, const char *path, nc_error *err) {
    struct stat info;
    bool is_there = ops->status_at(ops->ctx, AT_FDCWD, path, &info) == 0;
    if (is_there && !S_ISDIR(info.st_mode) && nc_file_is_special(ops, path, &info)) {
        return nc_error_set(err, NC_ERR_FILE, ESPIPE, -1, "'%s' is not a regular file and would be overwritten", path);
    }
    return NC_OK;
}

/// Writes the temporary file and renames it. Removes it after an error.
static nc_status write_beside(nc_multipart_reader *reader, const char *temp_path, const char *path, nc_error *err) {
    const nc_file_ops *ops = &reader->form->files;
    int fd = -1;
    do {
        fd = ops->open(ops->ctx, temp_path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, NEW_FILE_MODE);
    } while (fd < 0 && errno == EINTR);
    if (fd < 0) {
        return nc_file_fail(err, path, "written", errno);
    }
    nc_status status = copy(reader, fd, path, err);
    if (status == NC_OK && ops->sync(ops->ctx, fd) != 0) {
        status = nc_file_fail(err, path, "written", errno);
    }
    // close() may report that the disk is full. EINTR is not an error here: the descriptor is closed.
    if (ops->close(ops->ctx, fd) != 0 && errno != EINTR && status == NC_OK) {
        status = nc_file_fail(err, path, "written", errno);
    }
    if (status == NC_OK && ops->rename(ops->ctx, temp_path, path) != 0) {
        status = nc_file_fail(err, path, "replaced", errno);
    }
    if (status != NC_OK) {
        (void)ops->unlink(ops->ctx, temp_path);
    }
    return status;
}

nc_status nc_multipart_write_file(nc_multipart *form, nc_slice path, nc_error *err) {
    char full[MAX_PATH_BYTES + 1];
    char beside[MAX_PATH_BYTES + NC_FILE_BESIDE_BYTES];
    nc_multipart_reader *reader = NULL;
    if (path.length == 0 || path.length > MAX_PATH_BYTES || memchr(path.data, 0, path.length) != NULL) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1,
                            "the path of the file is empty, contains a NUL byte or is longer than %d bytes",
                            MAX_PATH_BYTES);
    }
    memcpy(full, path.data, path.length);
    full[path.length] = '\0';
    if (!nc_file_name_beside(beside, full)) {
        return nc_error_set(err, NC_ERR_FILE, 0, -1,
                            "the system's random generator failed: cannot choose a temporary file name");
    }
    nc_status status = check_destination(&form->files, full, err);
    if (status == NC_OK) {
        status = nc_multipart_reader_new(&reader, form, err);
    }
    if (status == NC_OK) {
        status = write_beside(reader, beside, full, err);
    }
    nc_multipart_reader_free(reader);
    return status == NC_OK ? nc_error_clear(err) : status;
}
