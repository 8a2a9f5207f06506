/// Answers to challenges that the engine writes itself: where libcurl would misread the challenge, or would not ask
/// again. Everything else is libcurl's.
#ifndef NETCORE_PRIVATE_AUTH_ANSWER_H
#define NETCORE_PRIVATE_AUTH_ANSWER_H

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct nc_transfer nc_transfer;

/// The answer to one party, sent with the hop's next request.
typedef struct nc_auth_answer {
    nc_buf field; // "Authorization: …" or "Proxy-Authorization: …" and a NUL; empty: libcurl answers
    struct curl_slist node;
    uint8_t count; // of the answers to this hop
} nc_auth_answer;

/// How the engine comes to answer.
typedef enum nc_auth_reason {
    NC_AUTH_WHERE_MISREAD, // by libcurl
    NC_AUTH_WHERE_LOST     // libcurl does not answer over another connection, or its answer is lost with this one
} nc_auth_reason;

/// Those of one hop.
typedef struct nc_auth_answers {
    nc_auth_answer host;
    nc_auth_answer proxy;
} nc_auth_answers;

nc_auth_answers nc_auth_answers_init(void);
void nc_auth_answers_deinit(nc_auth_answers *answers);
/// Forgets them: the hop is another one.
void nc_auth_answers_reset(nc_auth_answers *answers);
/// NC_PARTY_ bits of those that the engine answers, and libcurl is to leave alone.
uint8_t nc_auth_own_parties(const nc_transfer *transfer);

/// Whether a challenge of this hop may be answered, by libcurl or by the engine.
bool nc_auth_answers_challenges(const nc_transfer *transfer);
/// NC_PARTY_ bits of those whose challenge libcurl would wait for before it sends the hop's body.
uint8_t nc_auth_awaited_parties(const nc_transfer *transfer);

/// Answers the challenge of a head that is complete, if that is the engine's to do: then the hop is to begin again
/// (`asks_anew`). NC_OK, or what is noted on the transfer.
NC_NODISCARD nc_status nc_auth_answer_head(nc_transfer *transfer, uint8_t party, nc_auth_reason reason);
/// Sets what the hop sends of its own answers; `easy` is configured otherwise.
CURLcode nc_auth_answer_set(CURL *easy, nc_transfer *transfer);
/// Puts the answer to the host before the fields that are linked.
struct curl_slist *nc_auth_answer_link(nc_transfer *transfer, struct curl_slist *fields);

#endif
