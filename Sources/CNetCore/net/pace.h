/// Rate limit: a token bucket, refilled by the clock.
///
/// An available piece is always accepted completely. If it exceeds the bucket, the next one waits until the debt is
/// paid. Event loop thread only.
#ifndef NETCORE_PRIVATE_PACE_H
#define NETCORE_PRIVATE_PACE_H

#include <netcore/base.h>

typedef struct nc_pace {
    uint64_t bytes_per_s; // 0 means no limit
    int64_t left;         // bytes; a negative value is debt
    uint64_t refilled_ns;
    size_t packet_bytes; // per piece; 0 means no limit
    uint64_t delay_ns;   // after each piece
    uint64_t next_ns;    // when the delay ends
} nc_pace;

/// Returns a bucket with a tenth of a second's worth.
nc_pace nc_pace_make(uint64_t bytes_per_s, uint64_t now_ns);
/// Limits the size of pieces, and adds a delay after each.
void nc_pace_set_packets(nc_pace *pace, size_t packet_bytes, uint32_t delay_ms);
/// Changes the rate. The saved budget is kept up to the new maximum, and so is a debt.
void nc_pace_set_rate(nc_pace *pace, uint64_t bytes_per_s, uint64_t now_ns);
/// Spends sent or received bytes.
void nc_pace_spend(nc_pace *pace, uint64_t bytes, uint64_t now_ns);
/// Returns when the next byte may be sent; `now_ns` or earlier means now.
uint64_t nc_pace_ready_ns(const nc_pace *pace);
/// Returns how many bytes may be sent now: SIZE_MAX without a limit, 0 during a debt.
size_t nc_pace_room(nc_pace *pace, uint64_t now_ns);

#endif
