/// Metrics of a hop, read from libcurl before its handle is returned.
#ifndef NETCORE_PRIVATE_METRICS_H
#define NETCORE_PRIVATE_METRICS_H

#include "net/transfer.h"

/// Records the metrics so far; the hop continues.
void nc_metrics_note(nc_transfer *transfer);
/// Records that TCP is connected, if the hop was connecting. Several events indicate it; the first counts.
void nc_metrics_note_tcp(nc_transfer *transfer);
/// Discards that time, because another socket is opened or none was connected.
void nc_metrics_forget_tcp(nc_transfer *transfer);
/// Records the peer's address as libcurl reports it.
void nc_metrics_note_address(nc_transfer *transfer, const char *remote_ip, int remote_port);
/// Records the metrics at the hop's end.
void nc_metrics_record(nc_transfer *transfer);

#endif
