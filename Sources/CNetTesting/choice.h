/// Asks whoever chooses replies.
#ifndef NCT_CHOICE_H
#define NCT_CHOICE_H

#include "nettesting/choice.h"
#include "request.h"
#include "script.h"

/// Who is asked; all NULL for nobody.
typedef struct nct_chooser {
    /// Chooses replies; NULL leaves that to the table.
    nct_choose_fn choose;
    /// Hears of requests; may be NULL.
    nct_received_fn received;
    /// Hears of replies; may be NULL.
    nct_replied_fn replied;
    /// What they are given.
    void *context;
} nct_chooser;

/// The reply that is chosen, retained for the caller; NULL for none.
nct_script *nct_choice_make(const nct_chooser *chooser, const nct_request *request, size_t connection);

#endif
