#include "serving.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_program(const serving *servers, const int orders[2], const int answers[2]) {
    const char *program = torture_program("serve");
    if (dup2(orders[0], STDIN_FILENO) == STDIN_FILENO && dup2(answers[1], STDOUT_FILENO) == STDOUT_FILENO) {
        execl(program, program, servers->authority_path, (char *)NULL);
    }
    _exit(3);
}

void serving_start(serving *servers) {
    int orders[2];
    int answers[2];
    char line[32] = "";
    *servers = (serving){.authority_path = "/tmp/netcore-authority-XXXXXX"};
    int fd = mkstemp(servers->authority_path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(pipe2(orders, O_CLOEXEC), 0);
    assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
    servers->process = fork();
    assert_true(servers->process >= 0);
    if (servers->process == 0) {
        run_program(servers, orders, answers);
    }
    assert_int_equal(close(orders[0]), 0);
    assert_int_equal(close(answers[1]), 0);
    servers->orders = fdopen(orders[1], "w");
    servers->answers = fdopen(answers[0], "r");
    assert_non_null(servers->orders);
    assert_non_null(servers->answers);
    assert_non_null(fgets(line, sizeof line, servers->answers));
    assert_int_equal(sscanf(line, "%u %u", &servers->plain_port, &servers->tls_port), 2);
    const nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(servers->authority_path)};
    assert_status(nc_trust_new(&servers->trust, &options, NULL), NC_OK);
}

bool serving_obey(serving *servers, const char *order) {
    char answer[8] = "";
    (void)fprintf(servers->orders, "%s\n", order);
    (void)fflush(servers->orders);
    return fgets(answer, sizeof answer, servers->answers) != NULL && strcmp(answer, "ok\n") == 0;
}

void serving_stop(serving *servers) {
    int status = 0;
    (void)fclose(servers->orders);
    (void)fclose(servers->answers);
    assert_int_equal(waitpid(servers->process, &status, 0), servers->process);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    nc_trust_release(servers->trust);
    (void)unlink(servers->authority_path);
}

nc_slice serving_url(char *url, const serving *servers, bool is_tls, const char *path) {
    (void)snprintf(url, TORTURE_URL_BYTES, "%s://127.0.0.1:%u%s", is_tls ? "https" : "http",
                   is_tls ? servers->tls_port : servers->plain_port, path);
    return nc_slice_of(url);
}
