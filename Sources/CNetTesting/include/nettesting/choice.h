/// Replies that are chosen as requests come, for servers that no script can
/// describe beforehand: a folder of files, a script with patterns.
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

/// A request whose head is whole, and which has no reply yet. Good within the
/// callback that is given it.
typedef struct nct_choice nct_choice;

/// The head as it came, its empty line included, without a NUL; of heads beyond
/// 64 KiB the beginning. Borrowed until the callback returns.
const char *nct_choice_head(const nct_choice *choice, size_t *length);

/// The number of the connection, as nct_server_request_connection() counts.
size_t nct_choice_connection(const nct_choice *choice);

/// Chooses the reply; texts and bytes are copied, and a file is owned by the
/// server from then on. The last call counts; without one the reply is 404.
///
/// Returns 0, or ENOMEM with nothing chosen and the file still the caller's.
int nct_choice_answer(nct_choice *choice, const nct_reply *reply);

/// Chooses a reply to a request. Runs on the server's thread, which serves
/// nobody meanwhile.
typedef void (*nct_choose_fn)(void *NCT_NULLABLE context, nct_choice *choice);

/// Hears of a request that has come whole, before its reply is sent, or of one
/// that is answered early: its first 64 KiB as they came, and how many bytes of
/// its body have come, without chunk framing. Runs on the server's thread;
/// `bytes` are borrowed until it returns.
typedef void (*nct_received_fn)(void *NCT_NULLABLE context, size_t connection, const char *bytes, size_t kept_length,
                                uint64_t body_length);

/// Hears that a reply has been sent, as far as it is sent at all: up to its cut,
/// or to where it stalls. Runs on the server's thread.
typedef void (*nct_replied_fn)(void *NCT_NULLABLE context, size_t connection);

NCT_ASSUME_NONNULL_END
#ifdef __cplusplus
}
#endif

#endif
