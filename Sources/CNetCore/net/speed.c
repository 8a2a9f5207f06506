#include "net/speed.h"

static const uint64_t second_ns = 1000000000;

static uint64_t whole_of(double value) {
    return value < (double)UINT64_MAX ? (uint64_t)value : UINT64_MAX;
}

void nc_speed_note(nc_speed *speed, uint64_t moved_bytes, uint64_t now_ns) {
    if (speed->since_ns == 0) {
        speed->since_ns = now_ns;
    }
    uint64_t passed_ns = now_ns > speed->since_ns ? now_ns - speed->since_ns : 0;
    uint64_t bytes = moved_bytes > speed->since_bytes ? moved_bytes - speed->since_bytes : 0;
    uint64_t rate = passed_ns == 0 ? 0 : whole_of((double)bytes * (double)second_ns / (double)passed_ns);
    if (passed_ns >= second_ns) {
        // Smoothed with the previous seconds, so that the remaining time does not jump. An incomplete first second does
        // not count.
        speed->bytes_per_s = speed->is_measured ? speed->bytes_per_s / 2 + rate / 2 : rate;
        speed->is_measured = true;
        speed->since_ns = now_ns;
        speed->since_bytes = moved_bytes;
    } else if (!speed->is_measured) {
        speed->bytes_per_s = rate;
    }
}

uint64_t nc_speed_left_ms(const nc_speed *speed, double left_bytes) {
    return speed->bytes_per_s == 0 ? UINT64_MAX : whole_of(left_bytes * 1000 / (double)speed->bytes_per_s);
}
