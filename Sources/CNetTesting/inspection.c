#include "server.h"

#include <errno.h>

/* --- settings --- */

int nct_server_script(nct_server *server, const char *path, const nct_reply *reply) {
    return nct_server_script_sequence(server, path, reply, 1);
}

int nct_server_script_sequence(nct_server *server, const char *path, const nct_reply *replies, size_t count) {
    if (count == 0)
        return EINVAL;
    for (size_t i = 0; i < count; i++)
        if (replies[i].has_file)
            return EINVAL;
    return nct_table_set(&server->coordinator.table, path, replies, count) ? 0 : ENOMEM;
}

void nct_server_accept_now(nct_server *server) {
    atomic_store(&server->is_opening, true);
    nct_server_wake(server);
}

void nct_server_release_stalled(nct_server *server) {
    nct_record_release_stalls(&server->coordinator.record);
    nct_server_wake(server);
}

/* --- inspection --- */

uint16_t nct_server_port(const nct_server *server) {
    return server->port;
}

const char *nct_server_ca_pem(const nct_server *server) {
    return server->certificate.ca_pem == NULL ? "" : server->certificate.ca_pem;
}

int nct_server_client_identity_write(const nct_server *server, const char *directory) {
    if (server->certificate.authority == NULL)
        return EINVAL;
    return nct_certificate_write_client(&server->certificate, directory);
}

bool nct_server_wait_for_requests(nct_server *server, size_t count, uint32_t timeout_ms) {
    return nct_record_wait(&server->coordinator.record, NCT_COUNT_REQUESTS, count, timeout_ms);
}

bool nct_server_wait_for_stalled(nct_server *server, size_t count, uint32_t timeout_ms) {
    return nct_record_wait(&server->coordinator.record, NCT_COUNT_STALLED, count, timeout_ms);
}

bool nct_server_wait_for_received_bytes(nct_server *server, size_t count, uint32_t timeout_ms) {
    return nct_record_wait(&server->coordinator.record, NCT_COUNT_RECEIVED, count, timeout_ms);
}

bool nct_server_wait_for_silence(nct_server *server, uint32_t timeout_ms) {
    return nct_record_wait_for_silence(&server->coordinator.record, timeout_ms);
}

size_t nct_server_request_count(nct_server *server) {
    return nct_record_now(&server->coordinator.record, NCT_COUNT_REQUESTS);
}

size_t nct_server_connection_count(nct_server *server) {
    return nct_record_now(&server->coordinator.record, NCT_COUNT_CONNECTIONS);
}

size_t nct_server_open_count(nct_server *server) {
    return nct_record_now(&server->coordinator.record, NCT_COUNT_OPEN);
}

size_t nct_server_received_bytes(nct_server *server) {
    return nct_record_now(&server->coordinator.record, NCT_COUNT_RECEIVED);
}

size_t nct_server_resumed_count(nct_server *server) {
    return nct_record_now(&server->coordinator.record, NCT_COUNT_RESUMED);
}

size_t nct_server_client_certificate_count(nct_server *server) {
    return nct_record_now(&server->coordinator.record, NCT_COUNT_CERTIFICATES);
}

size_t nct_server_copy_request(nct_server *server, size_t index, void *bytes, size_t capacity) {
    return nct_record_copy(&server->coordinator.record, index, bytes, capacity);
}

size_t nct_server_request_connection(nct_server *server, size_t index) {
    return nct_record_connection(&server->coordinator.record, index);
}

void nct_server_forget(nct_server *server) {
    nct_record_forget(&server->coordinator.record);
}
