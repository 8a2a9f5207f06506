/// The protocol of a connection: a request, then the scripted reply and ending. Event loop thread only.
#ifndef NCT_EXCHANGE_H
#define NCT_EXCHANGE_H

#include "connection.h"

/// The result of a step: the action that the caller must perform next.
typedef enum nct_step {
    /// Run another step.
    NCT_STEP_NEXT,
    /// Wait for the poller, a release or the clock.
    NCT_STEP_WAIT,
    /// Close with FIN.
    NCT_STEP_CLOSE,
    /// Close with RST.
    NCT_STEP_RESET,
} nct_step;

/// Performs as much of the connection's current phase as is possible now.
nct_step nct_exchange_step(nct_connection *connection);

/// Returns the current time of CLOCK_MONOTONIC in milliseconds.
uint64_t nct_exchange_now_ms(void);

#endif
