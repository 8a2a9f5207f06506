/// What a hop cost, read from libcurl before its handle goes back.
#ifndef NETCORE_PRIVATE_METRICS_H
#define NETCORE_PRIVATE_METRICS_H

#include "net/transfer.h"

/// As far as it has come; the hop goes on.
void nc_metrics_note(nc_transfer *transfer);
/// TCP is connected, if the hop is still at that: a sign of several, of which the first counts.
void nc_metrics_note_tcp(nc_transfer *transfer);
/// Another socket is opened, or none has come about.
void nc_metrics_forget_tcp(nc_transfer *transfer);
/// The other end's, as libcurl tells it.
void nc_metrics_note_address(nc_transfer *transfer, const char *remote_ip, int remote_port);
/// At the hop's end.
void nc_metrics_record(nc_transfer *transfer);

#endif
