#include "full_disk.h"

#include <errno.h>
#include <string.h>

static int open_noting(void *ctx, const char *path, int flags, mode_t mode) {
    full_disk *self = ctx;
    int fd = self->system.open(self->system.ctx, path, flags, mode);
    if (fd >= 0 && strstr(path, "full") != NULL) {
        atomic_store(&self->full_fd, fd);
    }
    return fd;
}

static int close_noting(void *ctx, int fd) {
    full_disk *self = ctx;
    int closed = fd; // After close(), another thread may get a file with this number.
    (void)atomic_compare_exchange_strong(&self->full_fd, &closed, -1);
    return self->system.close(self->system.ctx, fd);
}

static ssize_t write_unless_full(void *ctx, int fd, const void *bytes, size_t length) {
    full_disk *self = ctx;
    if (fd == atomic_load(&self->full_fd)) {
        errno = ENOSPC;
        return -1;
    }
    return self->system.write(self->system.ctx, fd, bytes, length);
}

void full_disk_init(full_disk *disk) {
    disk->system = nc_file_ops_system();
    atomic_init(&disk->full_fd, -1);
    disk->ops = disk->system;
    disk->ops.ctx = disk;
    disk->ops.open = open_noting;
    disk->ops.close = close_noting;
    disk->ops.write = write_unless_full;
}
