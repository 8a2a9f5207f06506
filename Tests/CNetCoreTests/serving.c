#include "serving.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void run_program(const serving *servers, const int commands[2], const int results[2]) {
    const char *program = torture_program("serve");
    if (dup2(commands[0], STDIN_FILENO) == STDIN_FILENO && dup2(results[1], STDOUT_FILENO) == STDOUT_FILENO) {
        execl(program, program, servers->authority_path, (char *)NULL);
    }
    _exit(3);
}

void serving_start(serving *servers) {
    int commands[2];
    int results[2];
    char line[32] = "";
    *servers = (serving){.authority_path = "/tmp/netcore-authority-XXXXXX"};
    int fd = mkstemp(servers->authority_path);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(pipe2(commands, O_CLOEXEC), 0);
    assert_int_equal(pipe2(results, O_CLOEXEC), 0);
    servers->process = fork();
    assert_true(servers->process >= 0);
    if (servers->process == 0) {
        run_program(servers, commands, results);
    }
    assert_int_equal(close(commands[0]), 0);
    assert_int_equal(close(results[1]), 0);
    servers->commands = fdopen(commands[1], "w");
    servers->results = fdopen(results[0], "r");
    assert_non_null(servers->commands);
    assert_non_null(servers->results);
    assert_non_null(fgets(line, sizeof line, servers->results));
    assert_int_equal(sscanf(line, "%u %u", &servers->plain_port, &servers->tls_port), 2);
    const nc_trust_options options = {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(servers->authority_path)};
    assert_status(nc_trust_new(&servers->trust, &options, NULL), NC_OK);
}

bool serving_command(serving *servers, const char *order) {
    char answer[8] = "";
    (void)fprintf(servers->commands, "%s\n", order);
    (void)fflush(servers->commands);
    return fgets(answer, sizeof answer, servers->results) != NULL && strcmp(answer, "ok\n") == 0;
}

void serving_stop(serving *servers) {
    int status = 0;
    (void)fclose(servers->commands);
    (void)fclose(servers->results);
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
