/// Calls the callbacks that choose replies.
#ifndef NCT_CHOICE_H
#define NCT_CHOICE_H

#include "nettesting/choice.h"
#include "request.h"
#include "script.h"

/// The callbacks; all NULL for none.
typedef struct nct_chooser {
    /// Chooses replies. If NULL, replies come from the table.
    nct_choose_fn choose;
    /// Called for each request; may be NULL.
    nct_received_fn received;
    /// Called for each reply; may be NULL.
    nct_replied_fn replied;
    /// Passed to the callbacks.
    void *context;
} nct_chooser;

/// The largest body that is kept for nct_choice_body().
#define NCT_CHOICE_MAX_BODY ((uint64_t)64 << 20)

/// Returns the chosen reply, retained for the caller; NULL for none.
///
/// - has_body: whether the request is complete, with its body.
nct_script *nct_choice_make(const nct_chooser *chooser, const nct_request *request, size_t connection, bool has_body);

#endif
