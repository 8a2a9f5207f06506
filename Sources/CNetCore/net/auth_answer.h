/// Authorization responses that the engine computes, if libcurl would misread the challenge or not resend. libcurl
/// handles all other challenges.
#ifndef NETCORE_PRIVATE_AUTH_ANSWER_H
#define NETCORE_PRIVATE_AUTH_ANSWER_H

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct nc_transfer nc_transfer;

/// The response to one party, sent with the hop's next request.
typedef struct nc_auth_answer {
    nc_buf field; // "Authorization: …" or "Proxy-Authorization: …" and a NUL; empty: libcurl responds
    struct curl_slist node;
    uint8_t count; // responses of this hop so far
} nc_auth_answer;

/// Why the engine responds.
typedef enum nc_auth_reason {
    NC_AUTH_WHERE_MISREAD, // by libcurl
    NC_AUTH_WHERE_LOST     // libcurl does not respond on another connection, or its response is lost with this one
} nc_auth_reason;

/// The authorization responses of one hop.
typedef struct nc_auth_answers {
    nc_auth_answer host;
    nc_auth_answer proxy;
} nc_auth_answers;

nc_auth_answers nc_auth_answers_init(void);
void nc_auth_answers_deinit(nc_auth_answers *answers);
/// Clears them for another hop.
void nc_auth_answers_reset(nc_auth_answers *answers);
/// Returns the NC_PARTY_ bits that the engine responds to, and libcurl must not.
uint8_t nc_auth_own_parties(const nc_transfer *transfer);

/// Returns true if libcurl or the engine may respond to a challenge of this hop.
bool nc_auth_answers_challenges(const nc_transfer *transfer);
/// Returns the NC_PARTY_ bits whose challenge libcurl would await before it sends the hop's body.
uint8_t nc_auth_awaited_parties(const nc_transfer *transfer);

/// Responds to the challenge of a complete head, if that is the engine's task. The hop then begins again (`asks_anew`).
/// Returns NC_OK, or the error that it recorded in the transfer.
NC_NODISCARD nc_status nc_auth_answer_head(nc_transfer *transfer, uint8_t party, nc_auth_reason reason);
/// Sets the authorization fields that the hop sends. `easy` is configured otherwise.
CURLcode nc_auth_answer_set(CURL *easy, nc_transfer *transfer);
/// Prepends the authorization field for the host to the linked fields.
struct curl_slist *nc_auth_answer_link(nc_transfer *transfer, struct curl_slist *fields);

#endif
