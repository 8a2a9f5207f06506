#include "redis_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096, MAX_WORDS = 64 };

static const char *program = "redis-server";

int redis_server_choose(int count, char **arguments) {
    char path[TEXT_BYTES];
    program = count > 1 ? arguments[1] : program;
    if (nct_program_find(program, path, sizeof path)) {
        return 0;
    }
    print_message("%s is missing; script/bootstrap --tests installs it\n", program);
    const char *ci = getenv("CI");
    return ci != NULL && strcmp(ci, "true") == 0 ? 1 : 77;
}

static void add(redis_server *server, const char *argument) {
    assert_true(server->argument_count < sizeof server->arguments / sizeof server->arguments[0]);
    (void)snprintf(server->arguments[server->argument_count++], sizeof server->arguments[0], "%s", argument);
}

static void prepare(redis_server *server) {
    *server = (redis_server){.held = -1};
    (void)snprintf(server->directory, sizeof server->directory, "/tmp/netredis-XXXXXX");
    assert_non_null(mkdtemp(server->directory));
    server->held = nct_port_reserve(&server->port);
    assert_true(server->held >= 0);
    add(server, program);
    add(server, "--dir");
    add(server, server->directory);
    add(server, "--bind");
    add(server, "127.0.0.1");
    add(server, "--save");
    add(server, "");
    add(server, "--unixsocket");
    add(server, "socket");
    add(server, "--pidfile");
    add(server, "pid");
}

static void add_port(redis_server *server, const char *name) {
    char digits[8];
    (void)snprintf(digits, sizeof digits, "%u", (unsigned)server->port);
    add(server, name);
    add(server, digits);
}

void redis_server_start_again(redis_server *server) {
    const char *arguments[sizeof server->arguments / sizeof server->arguments[0] + 1] = {NULL};
    char log[128];
    for (size_t i = 0; i < server->argument_count; i++) {
        arguments[i] = server->arguments[i];
    }
    (void)snprintf(log, sizeof log, "%s/log", server->directory);
    const nct_process_options options = {.arguments = arguments, .port = server->port, .log_path = log};
    assert_int_equal(nct_process_start(&server->process, &options), 0);
}

void redis_server_start(redis_server *server, const char *const *options) {
    prepare(server);
    add_port(server, "--port");
    for (size_t i = 0; options != NULL && options[i] != NULL; i++) {
        add(server, options[i]);
    }
    redis_server_start_again(server);
}

void redis_server_start_tls(redis_server *server) {
    prepare(server);
    assert_int_equal(nct_identity_write(NCT_TLS_VALID, server->directory), 0);
    add_port(server, "--tls-port");
    const char *const options[] = {"--port",
                                   "0",
                                   "--tls-cert-file",
                                   "cert.pem",
                                   "--tls-key-file",
                                   "key.pem",
                                   "--tls-ca-cert-file",
                                   "ca.pem",
                                   "--tls-auth-clients",
                                   "no"};
    for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
        add(server, options[i]);
    }
    redis_server_start_again(server);
}

void redis_server_kill(redis_server *server) {
    nct_process_stop(server->process);
    server->process = NULL;
}

void redis_server_stop(redis_server *server) {
    char command[128];
    redis_server_kill(server);
    (void)close(server->held);
    (void)snprintf(command, sizeof command, "rm -rf %s", server->directory);
    assert_int_equal(system(command), 0);
}

redis_server redis_group_server;

int redis_group_setup(void **state) {
    (void)state;
    redis_server_start(&redis_group_server, NULL);
    return 0;
}

int redis_group_teardown(void **state) {
    (void)state;
    redis_server_stop(&redis_group_server);
    return 0;
}

void redis_server_signal(const redis_server *server, int signal) {
    char path[128];
    char line[32] = "";
    (void)snprintf(path, sizeof path, "%s/pid", server->directory);
    FILE *file = fopen(path, "re");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    (void)fclose(file);
    assert_int_equal(kill((pid_t)atoi(line), signal), 0);
}

nc_redis *redis_open(const redis_server *server, const char *url, const nc_redis_config *config) {
    char own_url[64];
    nc_error err;
    nc_redis *client = NULL;
    nc_redis_config asked = config != NULL ? *config : (nc_redis_config){0};
    (void)snprintf(own_url, sizeof own_url, "redis://127.0.0.1:%u", (unsigned)server->port);
    asked.url = nc_slice_of(url != NULL ? url : own_url);
    nc_status status = nc_redis_open(&client, &asked, &err);
    if (status != NC_OK) {
        print_error("%s\n", err.message);
    }
    assert_status(status, NC_OK);
    return client;
}

static void write_reply(char *out, size_t capacity, const nc_redis_reply *reply) {
    size_t used = 0;
    switch (reply->type) {
    case NC_REDIS_INTEGER:
        (void)snprintf(out, capacity, ":%lld", (long long)reply->integer);
        break;
    case NC_REDIS_ARRAY:
        used = (size_t)snprintf(out, capacity, "[");
        for (size_t i = 0; i < reply->count && used + 2 < capacity; i++) {
            write_reply(out + used, capacity - used, &reply->items[i]);
            used += strlen(out + used);
            used += (size_t)snprintf(out + used, capacity - used, i + 1 < reply->count ? "," : "");
        }
        (void)snprintf(out + used, capacity - used, "]");
        break;
    case NC_REDIS_NIL:
        (void)snprintf(out, capacity, "(nil)");
        break;
    default:
        (void)snprintf(out, capacity, "%s%.*s", reply->type == NC_REDIS_ERROR ? "-" : "", (int)reply->bytes.length,
                       (const char *)reply->bytes.data);
    }
}

const char *redis_ask_within(nc_redis *client, const char *words, uint32_t timeout_ms) {
    static _Thread_local char text[TEXT_BYTES];
    char copy[TEXT_BYTES];
    nc_slice arguments[MAX_WORDS];
    nc_redis_command command = {.arguments = arguments, .timeout_ms = timeout_ms};
    nc_redis_reply *reply = NULL;
    nc_error err;
    char *rest = NULL;
    (void)snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, " ", &rest); word != NULL; word = strtok_r(NULL, " ", &rest)) {
        arguments[command.count++] = nc_slice_of(word);
    }
    nc_status status = nc_redis_call(client, &command, &reply, &err);
    assert_status(status, err.status);
    if (status == NC_OK) {
        write_reply(text, sizeof text, reply);
    } else {
        assert_null(reply);
        assert_true(err.message[0] != '\0');
        (void)snprintf(text, sizeof text, "%s", nc_status_name(status));
    }
    nc_redis_reply_free(reply);
    return text;
}

const char *redis_ask(nc_redis *client, const char *words) {
    return redis_ask_within(client, words, 10000);
}

void redis_ask_until(nc_redis *client, const char *words, const char *expected) {
    const struct timespec pause = {.tv_nsec = 2000000};
    const char *reply = redis_ask(client, words);
    for (int i = 0; i < 10000 && strcmp(reply, expected) != 0; i++) {
        (void)nanosleep(&pause, NULL);
        reply = redis_ask(client, words);
    }
    assert_string_equal(reply, expected);
}
