/// Kills a process at a system call of its own that touches files, as strace's injection does.
///
/// What faulty.h does at the seam of the file operations, this does at the kernel's: nothing that writes, syncs,
/// renames, unlinks or opens gets past it.
#ifndef NETCORE_TEST_TRACED_H
#define NETCORE_TEST_TRACED_H

#include "harness.h"

/// Whether a process may be traced here. It has said so when not, and a run of CI must fail.
bool traced_is_allowed(void);
/// Forks, and runs `work` there, which may start threads and calls _exit(2). The child is killed at its `nth` call, or
/// after it; 0 kills never. Returns what waitpid(2) says of it.
int traced_run(void (*work)(void *ctx), void *ctx, uint64_t nth, bool is_after);

#endif
