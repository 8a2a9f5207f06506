/// The body check: validates a response's body while it arrives, if JSON is expected. Event loop thread only.
#ifndef NETCORE_PRIVATE_PROOF_H
#define NETCORE_PRIVATE_PROOF_H

#include "net/transfer.h"

#include <netcore/expectation.h>

/// Decides at the final head if its body is checked. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_proof_begin(nc_transfer *transfer);
/// Returns true if a body with this head may go to a file: nothing is expected, or the expectation covers it.
NC_NODISCARD bool nc_proof_allows_saving(const nc_transfer *transfer);
/// Checks decoded bytes of the body. Returns NC_OK or the recorded error.
NC_NODISCARD nc_status nc_proof_take(nc_transfer *transfer, nc_slice bytes);
/// Ends the check, and records an error unless one is recorded.
void nc_proof_end(nc_transfer *transfer);

/// Returns true if an expectation covers a response with this status.
bool nc_expectation_speaks_of_status(const nc_expectation *expectation, uint16_t status);
/// Returns true if it covers a content type, which may have parameters.
bool nc_expectation_speaks_of_type(const nc_expectation *expectation, nc_slice content_type);
/// Returns its options; `types` must not be used.
const nc_expectation_options *nc_expectation_options_of(const nc_expectation *expectation);

#endif
