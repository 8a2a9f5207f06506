/// Rate limit: a token bucket, refilled by the clock.
///
/// A piece that has arrived is always accepted completely. If it exceeds the available budget, the bucket has a debt,
/// and the next piece waits until the debt is paid. Event loop thread only.
#ifndef NETCORE_PRIVATE_RATE_LIMIT_H
#define NETCORE_PRIVATE_RATE_LIMIT_H

#include <netcore/base.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct nc_pace {
    uint64_t bytes_per_s; // 0 means no limit
    int64_t left;         // available budget in bytes; a negative value is a debt
    uint64_t refilled_ns;
    size_t packet_bytes; // maximum size of a piece; 0 means no limit
    uint64_t delay_ns;   // delay after each piece
    uint64_t next_ns;    // time when the current delay ends
} nc_pace;

/// Returns a full bucket: it has the budget of a tenth of a second, but at least 1,024 bytes.
nc_pace nc_pace_make(uint64_t bytes_per_s, uint64_t now_ns);
/// Limits the size of pieces, and adds a delay after each.
void nc_pace_set_packets(nc_pace *pace, size_t packet_bytes, uint32_t delay_ms);
/// Changes the rate. A debt is kept. An available budget is kept up to the new maximum.
void nc_pace_set_rate(nc_pace *pace, uint64_t bytes_per_s, uint64_t now_ns);
/// Subtracts sent or received bytes from the budget, and starts the delay after them.
void nc_pace_spend(nc_pace *pace, uint64_t bytes, uint64_t now_ns);
/// Returns when the next byte may be sent; `now_ns` or earlier means now.
uint64_t nc_pace_ready_ns(const nc_pace *pace);
/// Returns how many bytes may be sent now: SIZE_MAX without a limit, 0 during a debt.
size_t nc_pace_room(nc_pace *pace, uint64_t now_ns);

/* --- speed.c: the transfer rate over the last seconds --- */

/// The state of a measurement. In a zeroed struct, no bytes have been recorded yet.
typedef struct nc_speed {
    uint64_t since_ns; // start of the current second; 0 before the first
    uint64_t since_bytes;
    uint64_t bytes_per_s;
    bool is_measured; // `bytes_per_s` was measured over at least a full second
} nc_speed;

/// Records the total number of bytes transferred so far. The first second begins with the first call, or at `since_ns`
/// if the caller has set it.
void nc_speed_record(nc_speed *speed, uint64_t moved_bytes, uint64_t now_ns);
/// Returns the time that `left_bytes` more bytes take at the measured rate, in milliseconds; UINT64_MAX if unknown.
uint64_t nc_speed_left_ms(const nc_speed *speed, double left_bytes);

#endif
