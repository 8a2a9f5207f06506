/// Programs that end with TLS transfers in flight end cleanly, every time.
#include "torture.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SIDE_BY_SIDE = 4, VARIANTS = 5, MAX_DELAY_US = 25000 };

static const char *const variants[VARIANTS] = {"return", "exit-thread", "no-sink", "released", "two-engines"};

typedef struct run {
    pid_t pid;
    const char *variant;
    unsigned delay_us;
    uint64_t began_ms;
} run;

static run start_run(const char *program, const char *variant, unsigned delay_us) {
    run one = {.variant = variant, .delay_us = delay_us, .began_ms = torture_now_ms()};
    char delay[16];
    (void)snprintf(delay, sizeof delay, "%u", delay_us);
    one.pid = fork();
    assert_true(one.pid >= 0);
    if (one.pid == 0) {
        execl(program, program, variant, delay, (char *)NULL);
        _exit(127);
    }
    return one;
}

/// Waits for any of the runs, reports its errors, and frees its entry.
static bool await_one(run *runs, uint64_t *slowest_ms) {
    int status = 0;
    pid_t pid = waitpid(-1, &status, 0);
    assert_true(pid > 0);
    for (size_t i = 0; i < SIDE_BY_SIDE; i++) {
        if (runs[i].pid != pid) {
            continue;
        }
        uint64_t took_ms = torture_now_ms() - runs[i].began_ms;
        *slowest_ms = took_ms > *slowest_ms ? took_ms : *slowest_ms;
        runs[i].pid = 0;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
            return true;
        }
        print_error("exit_in_flight %s %u: %s %d\n", runs[i].variant, runs[i].delay_us,
                    WIFSIGNALED(status) ? "signal" : "exit code",
                    WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
        return false;
    }
    fail_msg("an unknown child ended");
    return false;
}

static void exit__with_tls_in_flight_is_clean_every_time(void **state) {
    run runs[SIDE_BY_SIDE] = {{0}};
    char program[4096];
    (void)state;
    (void)snprintf(program, sizeof program, "%s", torture_program("exit_in_flight"));
    uint64_t count = torture_number("NETCORE_TORTURE_EXITS", 500);
    uint64_t chance = torture_seed();
    uint64_t began_ms = torture_now_ms();
    uint64_t slowest_ms = 0;
    uint64_t started = 0;
    uint64_t ended = 0;
    uint64_t failed = 0;
    while (ended < count) {
        for (size_t i = 0; i < SIDE_BY_SIDE && started < count; i++) {
            if (runs[i].pid == 0) {
                unsigned delay_us = (unsigned)(torture_next(&chance) % MAX_DELAY_US);
                runs[i] = start_run(program, variants[started % VARIANTS], delay_us);
                started++;
            }
        }
        failed += await_one(runs, &slowest_ms) ? 0 : 1;
        ended++;
    }
    print_message("%llu programs ended, %llu of them badly, %llu ms, the slowest %llu ms\n", (unsigned long long)ended,
                  (unsigned long long)failed, (unsigned long long)(torture_now_ms() - began_ms),
                  (unsigned long long)slowest_ms);
    assert_int_equal(failed, 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {harness_case(exit__with_tls_in_flight_is_clean_every_time)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
