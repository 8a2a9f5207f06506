/* Measures the cost of a whole process, from its start to its end:
 *
 *     costs PROGRAM [ARGUMENT..]
 *
 * prints "cpu=… wall_s=… rss_kb=…" (user and system seconds, peak) on descriptor 3 and exits with its status. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { RESULTS_FD = 3, CANNOT_RUN = 127 };

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

int main(int argc, char *argv[]) {
    struct timespec start;
    struct timespec end;
    struct rusage usage;
    int status = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: costs PROGRAM [ARGUMENT..]\n");
        return 2;
    }
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t child = fork();
    if (child == 0) {
        close(RESULTS_FD);
        execvp(argv[1], argv + 1);
        perror(argv[1]);
        _exit(CANNOT_RUN);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child) {
        perror("costs");
        return 1;
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    double wall_s = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    dprintf(RESULTS_FD, "cpu=%.6f wall_s=%.6f rss_kb=%ld\n", seconds(usage.ru_utime) + seconds(usage.ru_stime), wall_s,
            usage.ru_maxrss);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
