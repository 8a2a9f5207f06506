/// A server whose replies are chosen by a callback for each request. Use it if the replies cannot be scripted before
/// the requests arrive, for example to serve a directory of files.
///
///     static void choose(void *context, nct_choice *choice) {
///         size_t length;
///         const char *head = nct_choice_head(choice, &length);
///         …
///         nct_choice_respond(choice, &(nct_reply){.body = "hi", .body_length = 2});
///     }
#ifndef NETTESTING_CHOICE_H
#define NETTESTING_CHOICE_H

#include "reply.h"

#ifdef __cplusplus
extern "C" {
#endif
NCT_ASSUME_NONNULL_BEGIN

/// A request with a complete head and no reply yet. Valid within its callback.
typedef struct nct_choice nct_choice;

/// Returns the head as received, including its empty line, without a NUL. A head above 64 KiB is truncated. Borrowed
/// until the callback returns. In the second call for a request, the beginning of its body follows.
const char *nct_choice_head(const nct_choice *choice, size_t *length);

/// Returns the number of the request's connection, which is the same as from nct_server_request_connection().
size_t nct_choice_connection(const nct_choice *choice);

/// Returns the body of the request, without chunk framing, if the first call of the callback chose a reply with
/// `awaits_body`. The callback is then called again for the complete request. If it chooses no reply in the second
/// call, the reply of the first call is sent.
///
/// Returns NULL in the first call. The bytes are borrowed until the callback returns.
///
/// - length: the number of bytes.
/// - received: the number of bytes that the client sent. It is larger than `length` if the body has more than 64 MiB,
/// of
///   which only a beginning is kept.
const void *NCT_NULLABLE nct_choice_body(const nct_choice *choice, size_t *length, uint64_t *received);

/// Chooses the reply. Texts and bytes are copied, and the server takes ownership of a file. If the callback calls this
/// function several times, the last call counts. If it never calls it, the reply is 404 (or that of the first call).
///
/// Returns 0 or ENOMEM. After ENOMEM the choice has not changed, and the caller still owns the file.
int nct_choice_respond(nct_choice *choice, const nct_reply *reply);

/// Chooses a reply to a request. Called again when the body has arrived if the reply has `awaits_body`. Called on the
/// server's thread, which serves no other request meanwhile.
typedef void (*nct_choose_fn)(void *NCT_NULLABLE context, nct_choice *choice);

/// Called for each complete request before its reply is sent, and for each request with an early reply. `bytes` are the
/// first 64 KiB of the request as received, valid until the callback returns. `body_length` does not count chunk
/// framing. Called on the server's thread.
typedef void (*nct_received_fn)(void *NCT_NULLABLE context, size_t connection, const char *bytes, size_t kept_length,
                                uint64_t body_length);

/// Called when a reply has been sent completely, or up to the position where it is cut or stalls. For a WebSocket,
/// called when it has been closed. Called on the server's thread.
typedef void (*nct_replied_fn)(void *NCT_NULLABLE context, size_t connection);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
