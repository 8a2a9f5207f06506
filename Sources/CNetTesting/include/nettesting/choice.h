/// Replies that a callback chooses for each request, for servers that a script cannot describe beforehand: a directory
/// of files, or a script with patterns.
///
///     static void choose(void *context, nct_choice *choice) {
///         size_t length;
///         const char *head = nct_choice_head(choice, &length);
///         …
///         nct_choice_answer(choice, &(nct_reply){.body = "hi", .body_length = 2});
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
/// until the callback returns.
const char *nct_choice_head(const nct_choice *choice, size_t *length);

/// Returns the number of the connection, as nct_server_request_connection() counts.
size_t nct_choice_connection(const nct_choice *choice);

/// Chooses the reply. Texts and bytes are copied; the server takes ownership of a file. The last call counts. Without a
/// call the reply is 404.
///
/// Returns 0, or ENOMEM with nothing chosen and the file still owned by the caller.
int nct_choice_answer(nct_choice *choice, const nct_reply *reply);

/// Chooses a reply to a request. Called on the server's thread, which serves no other request meanwhile.
typedef void (*nct_choose_fn)(void *NCT_NULLABLE context, nct_choice *choice);

/// Called for each complete request before its reply is sent, and for each request with an early reply. `bytes` are its
/// first 64 KiB as received, borrowed until the callback returns. The body count excludes chunk framing. Called on the
/// server's thread.
typedef void (*nct_received_fn)(void *NCT_NULLABLE context, size_t connection, const char *bytes, size_t kept_length,
                                uint64_t body_length);

/// Called when a reply has been sent up to its end, its cut or its stall. Called on the server's thread.
typedef void (*nct_replied_fn)(void *NCT_NULLABLE context, size_t connection);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
