/// What is said on a connection: a request, the reply as scripted, the ending
/// as scripted. Loop thread only.
#ifndef NCT_EXCHANGE_H
#define NCT_EXCHANGE_H

#include "connection.h"

/// What a step asks for.
typedef enum nct_step {
    /// Another step.
    NCT_STEP_NEXT,
    /// Nothing, before the poller, a release or the clock wakes the connection.
    NCT_STEP_WAIT,
    /// The end, with FIN.
    NCT_STEP_CLOSE,
    /// The end, with RST.
    NCT_STEP_RESET,
} nct_step;

/// Does what the connection's phase says, as far as it goes now.
nct_step nct_exchange_step(nct_connection *connection);

/// Milliseconds of CLOCK_MONOTONIC.
uint64_t nct_exchange_now_ms(void);

#endif
