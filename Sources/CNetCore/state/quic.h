/// Which hops can use QUIC, and thus HTTP/3. Event loop thread only.
#ifndef NETCORE_PRIVATE_QUIC_H
#define NETCORE_PRIVATE_QUIC_H

#include "state/transfer_record.h"

/// Returns true if libcurl can use QUIC for the hop. A proxy of the environment is unknown here. If libcurl can corrupt
/// bodies over QUIC, only a hop that requires HTTP/3 can use it.
bool nc_quic_is_possible(const nc_transfer *transfer);
/// Returns NC_OK, or NC_ERR_UNSUPPORTED in transfer->error if the hop requires HTTP/3 and cannot use it.
NC_NODISCARD nc_status nc_quic_check(nc_transfer *transfer);

#endif
