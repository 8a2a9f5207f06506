/// Kills a process at a system call on files, as strace's injection does.
///
/// It does in the kernel what faulty.h does in the file operations: no call that writes, syncs, renames, unlinks or
/// opens escapes it.
#ifndef NETCORE_TEST_TRACED_H
#define NETCORE_TEST_TRACED_H

#include "harness.h"

/// Returns true if a process may be traced. If not, it has printed the reason, and a CI run must fail.
bool traced_is_allowed(void);
/// Forks and runs `work` in the child. `work` may start threads, and ends with _exit(2). The child is killed before
/// or after its `nth` call; 0 means never. Returns the status of waitpid(2).
int traced_run(void (*work)(void *ctx), void *ctx, uint64_t nth, bool is_after);

#endif
