#include "nettesting/process.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { READY_MS = 30000, TRY_MS = 2, MAX_DESCRIPTORS = 4, FIRST_DESCRIPTOR = 3, PATH_BYTES = 4096 };

/* --- ports --- */

static int open_port(uint16_t *port, bool is_listening) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    const int yes = 1;
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (fd < 0) {
        return -1;
    }
    // Two sockets with SO_REUSEADDR may share a port if only one of them listens.
    if (fcntl(fd, F_SETFD, FD_CLOEXEC) != 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        bind(fd, (struct sockaddr *)&address, length) != 0 || (is_listening && listen(fd, SOMAXCONN) != 0) ||
        getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

int nct_port_reserve(uint16_t *port) {
    return open_port(port, false);
}

int nct_port_listen(uint16_t *port) {
    return open_port(port, true);
}

static bool is_accepting(uint16_t port) {
    const struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    bool is_connected = fd >= 0 && connect(fd, (const struct sockaddr *)&address, sizeof address) == 0;
    if (fd >= 0) {
        close(fd);
    }
    return is_connected;
}

/* --- programs --- */

static bool is_program(const char *path) {
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

bool nct_program_find(const char *name, char *path, size_t capacity) {
    static const char system_folders[] = "/usr/sbin:/usr/local/sbin:/sbin";
    const char *own = getenv("PATH");
    const char *lists[] = {own == NULL ? "" : own, system_folders};
    if (strchr(name, '/') != NULL) {
        return snprintf(path, capacity, "%s", name) < (int)capacity && is_program(path);
    }
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        for (const char *at = lists[i]; *at != '\0';) {
            size_t length = strcspn(at, ":");
            int written = snprintf(path, capacity, "%.*s/%s", (int)length, at, name);
            if (length > 0 && written > 0 && (size_t)written < capacity && is_program(path)) {
                return true;
            }
            at += length + (at[length] == ':');
        }
    }
    return false;
}

#ifdef __linux__

/// The child process is a guardian. It runs the program, and kills it when the pipe from the caller's process closes.
/// The pipe closes in nct_process_stop(), or when the caller's process ends. PR_SET_PDEATHSIG is not used, because it
/// would also act when only the thread that forked ends.
struct nct_process {
    pid_t guardian;
    int guardian_fd; // readable when the guardian has ended
    int leash_fd;    // the end of the pipe that the guardian watches
};

/// The guardian's inputs. They are prepared before fork(), because the child must not allocate memory after it.
typedef struct order {
    const nct_process_options *options;
    char path[PATH_BYTES];
    char **environment;
    int leash_fd;
    int input_fd;
    int output_fd;
} order;

static int open_pidfd(pid_t pid) {
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

/// Runs in the program's process: moves the descriptors to their numbers.
static void run_program(const order *one) {
    int moved[MAX_DESCRIPTORS];
    const size_t count = one->options->descriptor_count;
    for (size_t i = 0; i < count; i++) {
        // First moved to high numbers, so that the final numbers 3, 4, … are free.
        moved[i] = fcntl(one->options->descriptors[i], F_DUPFD, 100);
    }
    dup2(one->input_fd, STDIN_FILENO);
    dup2(one->output_fd, STDOUT_FILENO);
    dup2(one->output_fd, STDERR_FILENO);
    for (size_t i = 0; i < count; i++) {
        dup2(moved[i], FIRST_DESCRIPTOR + (int)i);
    }
    (void)syscall(SYS_close_range, FIRST_DESCRIPTOR + (unsigned)count, ~0u, 0);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    execve(one->path, (char *const *)(uintptr_t)one->options->arguments, one->environment);
    _exit(127);
}

/// Runs in the guardian.
static void guard_program(const order *one) {
    setpgid(0, 0); // An interrupt from the terminal only reaches the test, which then stops the program.
    // If children of the program lose their parent, they become children of the guardian, which waits for all of them.
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    pid_t program = fork();
    if (program == 0) {
        setpgid(0, 0);
        run_program(one);
    }
    setpgid(program, program);
    int program_fd = open_pidfd(program);
    dup2(one->leash_fd, STDIN_FILENO);
    dup2(program_fd, STDOUT_FILENO);
    // The guardian must not keep the caller's descriptors open.
    (void)syscall(SYS_close_range, 2u, ~0u, 0);
    struct pollfd events[] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.fd = STDOUT_FILENO, .events = POLLIN}};
    while (poll(events, 2, -1) < 0 && errno == EINTR) {
    }
    kill(-program, SIGKILL);
    while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) {
    }
    _exit(1);
}

static int wait_until_ready(const nct_process *process, uint16_t port) {
    struct pollfd end = {.fd = process->guardian_fd, .events = POLLIN};
    for (int tries = 0; tries < READY_MS / TRY_MS; tries++) {
        if (is_accepting(port)) {
            return 0;
        }
        if (poll(&end, 1, TRY_MS) > 0) {
            return ECHILD;
        }
    }
    return ETIMEDOUT;
}

/// Returns the environment with one more variable, or NULL if memory is exhausted.
static char **environment_with(const char *variable) {
    size_t count = 0;
    while (environ[count] != NULL) {
        count++;
    }
    char **all = calloc(count + 2, sizeof *all);
    if (all != NULL) {
        memcpy(all, environ, count * sizeof *all);
        all[count] = (char *)(uintptr_t)variable;
    }
    return all;
}

static int start_guardian(nct_process *process, order *one) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return errno;
    }
    one->leash_fd = ends[0];
    process->leash_fd = ends[1];
    process->guardian = fork();
    if (process->guardian == 0) {
        guard_program(one);
    }
    int error = process->guardian < 0 ? errno : 0;
    close(ends[0]);
    if (error != 0) {
        close(ends[1]);
        return error;
    }
    process->guardian_fd = open_pidfd(process->guardian);
    return 0;
}

int nct_process_start(nct_process **out, const nct_process_options *options) {
    order one = {.options = options};
    if (options->descriptor_count > MAX_DESCRIPTORS) {
        return EINVAL;
    }
    if (!nct_program_find(options->arguments[0], one.path, sizeof one.path)) {
        return ENOENT;
    }
    nct_process *process = calloc(1, sizeof *process);
    one.environment = environment_with(options->variable);
    one.input_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    one.output_fd = open(options->log_path != NULL ? options->log_path : "/dev/null",
                         O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    int error = process == NULL || one.environment == NULL ? ENOMEM : 0;
    if (error == 0) {
        error = one.input_fd < 0 || one.output_fd < 0 ? errno : start_guardian(process, &one);
    }
    close(one.input_fd);
    close(one.output_fd);
    free(one.environment);
    if (error != 0) {
        free(process);
        return error;
    }
    error = wait_until_ready(process, options->port);
    if (error != 0) {
        nct_process_stop(process);
        return error;
    }
    *out = process;
    return 0;
}

void nct_process_stop(nct_process *process) {
    if (process == NULL) {
        return;
    }
    close(process->leash_fd);
    while (waitpid(process->guardian, NULL, 0) < 0 && errno == EINTR) {
    }
    close(process->guardian_fd);
    free(process);
}

#else

int nct_process_start(nct_process **out, const nct_process_options *options) {
    (void)out;
    (void)options;
    return ENOSYS;
}

void nct_process_stop(nct_process *process) {
    (void)process;
}

#endif
