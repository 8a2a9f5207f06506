/// Decides how QUIC and TCP race, and remembers by origin which one has won (NC_HTTP_3_IF_POSSIBLE).
///
/// Some networks drop UDP. So TCP starts at most 200 ms after QUIC. If TCP wins, QUIC is not tried again for a while.
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_QUIC_RACE_H
#define NETCORE_PRIVATE_QUIC_RACE_H

#include "state/transfer_record.h"

/// Returns a number by which pools with QUIC differ from those without; 0 if the hop does not use QUIC.
uint64_t nc_quic_key(const nc_transfer *transfer);

/// Chooses how the hop races, after nc_alt_svc_cache_choose().
void nc_quic_race_choose(nc_transfer *transfer);
/// Remembers which one connected first, when a hop with a response ends.
void nc_quic_race_learn(const nc_transfer *transfer);

#endif
