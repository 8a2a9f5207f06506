/// Maps libcurl's result code and its circumstances to a status and one line of text. Pure.
#ifndef NETCORE_PRIVATE_CURL_ERROR_H
#define NETCORE_PRIVATE_CURL_ERROR_H

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <netcore/engine_options.h>
#include <netcore/status.h>

typedef struct nc_curl_error {
    CURLcode code;
    const char *detail;       // libcurl's error buffer; may be empty
    nc_slice endpoint;        // host and port for the message
    long os_error;            // CURLINFO_OS_ERRNO
    long verify_result;       // CURLINFO_SSL_VERIFYRESULT
    int wire_error;           // errno of the connection below TLS; 0 for none
    bool is_cut;              // that connection was closed without close_notify
    int socket_error;         // errno of the engine's socket(); 0 if it succeeded
    bool has_proxy;           // a proxy may have been used
    nc_slice proxy;           // its host and port; empty if it comes from the environment
    long proxy_verify_result; // CURLINFO_PROXY_SSL_VERIFYRESULT
    CURLproxycode proxy_code; // CURLINFO_PROXY_ERROR
    long used_proxy;          // CURLINFO_USED_PROXY; -1 if libcurl has none
    bool has_tunnel_response; // a proxy has responded to CONNECT
    bool is_connected;        // the connection was ready for the request
    bool is_in_head;          // a head is expected or incomplete
    bool has_no_head;         // no byte of a head has arrived
    bool is_stream;           // a head came over HTTP/2 or HTTP/3
    bool has_frames;          // the HTTP/2 frames were observed
    bool is_unprocessed;      // if `has_frames`: the server has not processed the request
    bool is_reset;            // if `has_frames`: the server has reset the stream
    bool insists_on_http2;    // NC_HTTP_2_PRIOR_KNOWLEDGE
    bool insists_on_http3;    // NC_HTTP_3_ONLY
    bool is_quic;             // the connection uses QUIC
    int alert;                // the received fatal TLS alert (RFC 8446, 6); 0 for none
    bool shows_no_identity;   // although the server requested a client certificate
    const char *unix_socket;  // used instead of the host; NULL for none
    const char *netrc_file;   // possibly read; NULL for none
    nc_slice name_server;     // queried over HTTPS; empty for none
    nc_address_family family; // of the permitted addresses
    bool has_no_address;      // no address of the host or its proxy is known yet
} nc_curl_error;

/// Fills `err` and returns its status; NC_OK for CURLE_OK.
nc_status nc_curl_error_map(const nc_curl_error *outcome, nc_error *err);

#endif
