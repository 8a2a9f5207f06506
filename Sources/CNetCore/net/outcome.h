/// Maps libcurl's result code and its circumstances to a status and one line of text. Pure.
#ifndef NETCORE_PRIVATE_OUTCOME_H
#define NETCORE_PRIVATE_OUTCOME_H

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <netcore/engine_options.h>
#include <netcore/status.h>

typedef struct nc_outcome {
    CURLcode code;
    const char *detail;       // libcurl's error buffer; may be empty
    nc_slice place;           // host and port for the message
    long os_error;            // CURLINFO_OS_ERRNO
    long verify_result;       // CURLINFO_SSL_VERIFYRESULT
    int socket_error;         // errno of the engine's socket(); 0 if it succeeded
    bool has_proxy;           // one may have been used
    nc_slice proxy;           // its host and port; empty if it comes from the environment
    long proxy_verify_result; // CURLINFO_PROXY_SSL_VERIFYRESULT
    CURLproxycode proxy_said; // CURLINFO_PROXY_ERROR
    long used_proxy;          // CURLINFO_USED_PROXY; -1 if libcurl has none (below 8.7)
    bool is_tunnel_answered;  // a proxy has responded to CONNECT
    bool is_connected;        // the connection was ready for the request
    bool is_in_head;          // a head is expected or incomplete
    bool has_no_head;         // and not even one byte of it arrived
    bool is_stream;           // a head came over HTTP/2 or HTTP/3
    bool has_frames;          // the frames of HTTP/2 are known
    bool is_unprocessed;      // and show that the server has not processed the request
    bool is_reset;            // or that it has reset the stream
    bool insists_on_http2;    // NC_HTTP_2_PRIOR_KNOWLEDGE
    int alert;                // the received fatal TLS alert (RFC 8446, 6); 0 for none
    bool shows_no_identity;   // although the server requested a client certificate
    const char *unix_socket;  // used instead of the host; NULL for none
    const char *netrc_file;   // possibly read; NULL for none
    nc_slice name_server;     // queried over HTTPS; empty for none
    nc_address_family family; // of the permitted addresses
    bool has_no_address;      // none was found yet for the host or its proxy
} nc_outcome;

/// Fills `err` and returns its status; NC_OK for CURLE_OK.
nc_status nc_outcome_judge(const nc_outcome *outcome, nc_error *err);

#endif
