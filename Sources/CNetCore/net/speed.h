/// The transfer rate over the last seconds. Pure.
#ifndef NETCORE_PRIVATE_SPEED_H
#define NETCORE_PRIVATE_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/// A zeroed struct means that nothing has moved yet.
typedef struct nc_speed {
    uint64_t since_ns; // start of the current second; 0 before the first
    uint64_t since_bytes;
    uint64_t bytes_per_s;
    bool is_measured; // over a full second
} nc_speed;

/// Records the total moved bytes. Counting begins with the first call, or with the caller's `since_ns`.
void nc_speed_note(nc_speed *speed, uint64_t moved_bytes, uint64_t now_ns);
/// Returns the time for so many more bytes at that rate, in milliseconds; UINT64_MAX if unknown.
uint64_t nc_speed_left_ms(const nc_speed *speed, double left_bytes);

#endif
