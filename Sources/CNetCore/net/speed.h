/// How fast bytes move, over the last seconds. Pure.
#ifndef NETCORE_PRIVATE_SPEED_H
#define NETCORE_PRIVATE_SPEED_H

#include <stdbool.h>
#include <stdint.h>

/// All zero is nothing moved yet.
typedef struct nc_speed {
    uint64_t since_ns; // of the second that is counted; 0 before the first
    uint64_t since_bytes;
    uint64_t bytes_per_s;
    bool is_measured; // over a whole second
} nc_speed;

/// Notes how much has moved in all. Counting begins with the first call, or with `since_ns` of the caller's.
void nc_speed_note(nc_speed *speed, uint64_t moved_bytes, uint64_t now_ns);
/// The time for so much more at that rate, in milliseconds; UINT64_MAX when nobody knows.
uint64_t nc_speed_left_ms(const nc_speed *speed, double left_bytes);

#endif
