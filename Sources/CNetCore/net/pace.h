/// How fast bytes may go: a bucket of what may be spent, refilled by the clock.
///
/// A piece that is there is always taken whole; when it was more than the bucket held, the next one has to wait until
/// the debt is paid. Confined to the loop thread.
#ifndef NETCORE_PRIVATE_PACE_H
#define NETCORE_PRIVATE_PACE_H

#include <netcore/base.h>

typedef struct nc_pace {
    uint64_t bytes_per_s; // 0: no limit
    int64_t left;         // bytes; negative is debt
    uint64_t refilled_ns;
    size_t packet_bytes; // at once; 0: no limit
    uint64_t delay_ns;   // after each piece
    uint64_t next_ns;    // when the delay ends
} nc_pace;

/// Begins with a tenth of a second's worth.
nc_pace nc_pace_make(uint64_t bytes_per_s, uint64_t now_ns);
/// Lets pieces of so many bytes at most go, and waits after each.
void nc_pace_set_packets(nc_pace *pace, size_t packet_bytes, uint32_t delay_ms);
/// Goes on at another rate: what was earned stays, as far as the new one lets it gather, and so does a debt.
void nc_pace_set_rate(nc_pace *pace, uint64_t bytes_per_s, uint64_t now_ns);
/// Spends bytes that went.
void nc_pace_spend(nc_pace *pace, uint64_t bytes, uint64_t now_ns);
/// When the next byte may go: `now_ns` or earlier means now.
uint64_t nc_pace_ready_ns(const nc_pace *pace);
/// How many bytes may go now: SIZE_MAX without a limit, 0 while there is a debt.
size_t nc_pace_room(nc_pace *pace, uint64_t now_ns);

#endif
