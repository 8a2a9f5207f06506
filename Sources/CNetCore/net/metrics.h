/// What a hop cost, read from libcurl before its handle goes back.
#ifndef NETCORE_PRIVATE_METRICS_H
#define NETCORE_PRIVATE_METRICS_H

#include "net/transfer.h"

void nc_metrics_record(nc_transfer *transfer);

#endif
