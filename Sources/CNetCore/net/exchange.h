/// libcurl's callbacks for received and sent bytes and for sockets. Their data is an nc_handle; for closing, the
/// engine.
#ifndef NETCORE_PRIVATE_EXCHANGE_H
#define NETCORE_PRIVATE_EXCHANGE_H

#include <curl/curl.h>

size_t nc_exchange_on_header(char *bytes, size_t one, size_t length, void *data);
size_t nc_exchange_on_body(char *bytes, size_t one, size_t length, void *data);
size_t nc_exchange_on_upload(char *bytes, size_t one, size_t capacity, void *data);
int nc_exchange_on_rewind(void *data, curl_off_t offset, int origin);
/// Called after nc_handle_watch_excess().
int nc_exchange_on_said(CURL *easy, curl_infotype type, char *bytes, size_t length, void *data);
/// Called if a proxy may need several rounds, nc_access_has_rounds().
int nc_exchange_on_progress(void *data, curl_off_t to_get, curl_off_t got, curl_off_t to_send, curl_off_t sent);
int nc_exchange_on_connected(void *data, char *remote_ip, char *local_ip, int remote_port, int local_port);
curl_socket_t nc_exchange_open_socket(void *data, curlsocktype purpose, struct curl_sockaddr *address);
int nc_exchange_close_socket(void *data, curl_socket_t fd);

#endif
