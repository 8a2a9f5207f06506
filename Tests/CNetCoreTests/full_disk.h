/// File operations whose writes fail with ENOSPC, for a file whose name contains "full".
///
///     full_disk disk;
///     full_disk_init(&disk);
///     options.file_ops = &disk.ops;
#ifndef NETCORE_TEST_FULL_DISK_H
#define NETCORE_TEST_FULL_DISK_H

#include "harness.h"

#include <stdatomic.h>

/// For one such file at a time. Thread-safe.
typedef struct full_disk {
    nc_file_ops ops; // its ctx is this struct, which must not move
    nc_file_ops system;
    atomic_int full_fd; // -1: none
} full_disk;

void full_disk_init(full_disk *disk);

#endif
