/// The check of a response's body while it arrives, when one is expected to be JSON.
///
/// Confined to the loop thread.
#ifndef NETCORE_PRIVATE_PROOF_H
#define NETCORE_PRIVATE_PROOF_H

#include "net/transfer.h"

#include <netcore/expectation.h>

/// The final head is whole: decides whether its body is checked. NC_OK, or what was noted.
NC_NODISCARD nc_status nc_proof_begin(nc_transfer *transfer);
/// Whether a body with this head may go to a file: nothing is expected, or the expectation speaks of it.
NC_NODISCARD bool nc_proof_allows_saving(const nc_transfer *transfer);
/// Takes decoded bytes of the body; NC_OK, or what was noted.
NC_NODISCARD nc_status nc_proof_take(nc_transfer *transfer, nc_slice bytes);
/// The body has ended; notes what is wrong with it, unless something else was.
void nc_proof_end(nc_transfer *transfer);

/// Whether an expectation speaks of a response with this status.
bool nc_expectation_speaks_of_status(const nc_expectation *expectation, uint16_t status);
/// Whether it speaks of a content type, which may have parameters.
bool nc_expectation_speaks_of_type(const nc_expectation *expectation, nc_slice content_type);
/// What it was made of; `types` are not to be looked at.
const nc_expectation_options *nc_expectation_options_of(const nc_expectation *expectation);

#endif
