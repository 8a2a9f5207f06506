/// What a hop cost, read from libcurl before its handle goes back.
#ifndef NETCORE_PRIVATE_METRICS_H
#define NETCORE_PRIVATE_METRICS_H

#include "net/transfer.h"

/// As far as it has come; the hop goes on.
void nc_metrics_note(nc_transfer *transfer);
/// At the hop's end.
void nc_metrics_record(nc_transfer *transfer);

#endif
