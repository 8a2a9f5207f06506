/// File operations of which writes fail, with ENOSPC, for the file that was opened under a name with "full" in it.
///
///     full_disk disk;
///     full_disk_init(&disk);
///     options.file_ops = &disk.ops;
#ifndef NETCORE_TEST_FULL_DISK_H
#define NETCORE_TEST_FULL_DISK_H

#include "harness.h"

#include <stdatomic.h>

/// For one such file at a time, from whichever thread.
typedef struct full_disk {
    nc_file_ops ops; // its ctx is this struct: it may not move
    nc_file_ops system;
    atomic_int full_fd; // -1 without any
} full_disk;

void full_disk_init(full_disk *disk);

#endif
