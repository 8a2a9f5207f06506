#include "traced.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/// The signal that marks a stop at a system call (PTRACE_O_TRACESYSGOOD).
enum { SYSCALL_STOP = SIGTRAP | 0x80 };

static bool touches_files(uint64_t number) {
    static const long numbers[] = {
        SYS_openat,   SYS_write,     SYS_pwrite64, SYS_writev,    SYS_pwritev, SYS_fsync,     SYS_fdatasync,
        SYS_renameat, SYS_renameat2, SYS_unlinkat, SYS_ftruncate, SYS_mkdirat, SYS_utimensat, SYS_fallocate,
#ifdef SYS_open // older calls, which newer architectures lack
        SYS_open,     SYS_rename,    SYS_unlink,   SYS_mkdir,     SYS_rmdir,
#endif
    };
    bool is_one = false;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        is_one = is_one || number == (uint64_t)numbers[i];
    }
    return is_one;
}

/// Returns the system call that a stopped thread enters, or UINT64_MAX when it leaves one.
static uint64_t call_of(pid_t thread) {
    struct __ptrace_syscall_info info;
    memset(&info, 0, sizeof info);
    if (ptrace(PTRACE_GET_SYSCALL_INFO, thread, (void *)sizeof info, &info) < 0) {
        return UINT64_MAX;
    }
    return info.op == PTRACE_SYSCALL_INFO_ENTRY ? info.entry.nr : UINT64_MAX;
}

/// Continues a stopped thread. A thread that was killed first is ignored.
static void continue_thread(pid_t thread, int signal) {
    (void)ptrace(PTRACE_SYSCALL, thread, NULL, (void *)(intptr_t)signal);
}

/// Returns the signal to deliver to a stopped thread; 0 if the stop was only for the tracer.
static int signal_of(int how) {
    int signal = WSTOPSIG(how);
    return how >> 16 != 0 || signal == SYSCALL_STOP || signal == SIGSTOP || signal == SIGTRAP ? 0 : signal;
}

static int trace(pid_t child, uint64_t nth, bool is_after) {
    uint64_t count = 0;
    pid_t marked = 0; // the thread whose call is the nth, to be killed at its end
    int how = 0;
    for (;;) {
        pid_t thread = waitpid(-1, &how, __WALL);
        assert_true(thread > 0 || errno == EINTR);
        if (thread == child && !WIFSTOPPED(how)) {
            return how;
        }
        if (thread <= 0 || !WIFSTOPPED(how)) {
            continue;
        }
        bool is_call = WSTOPSIG(how) == SYSCALL_STOP && how >> 16 == 0;
        uint64_t number = is_call ? call_of(thread) : UINT64_MAX;
        bool is_nth = number != UINT64_MAX && touches_files(number) && ++count == nth;
        if (is_nth && is_after) {
            marked = thread;
        } else if (is_nth || (is_call && thread == marked)) {
            kill(child, SIGKILL);
            marked = 0;
        }
        continue_thread(thread, signal_of(how));
    }
}

int traced_run(void (*work)(void *ctx), void *ctx, uint64_t nth, bool is_after) {
    int how = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 && raise(SIGSTOP) == 0) {
            work(ctx);
        }
        _exit(126);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFSTOPPED(how));
    long options = PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACECLONE | PTRACE_O_EXITKILL;
    assert_int_equal(ptrace(PTRACE_SETOPTIONS, child, NULL, (void *)options), 0);
    continue_thread(child, 0);
    return trace(child, nth, is_after);
}

bool traced_is_allowed(void) {
    int how = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0 ? 0 : errno);
    }
    assert_int_equal(waitpid(child, &how, 0), child);
    if (WIFEXITED(how) && WEXITSTATUS(how) == 0) {
        return true;
    }
    fprintf(stderr, "LEFT OUT: no process may be traced here (%s): NO KILL AT A SYSTEM CALL WAS TESTED\n",
            strerror(WEXITSTATUS(how)));
    return false;
}
