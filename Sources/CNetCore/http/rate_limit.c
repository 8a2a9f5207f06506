#include "http/rate_limit.h"

static const double ns_per_s = 1e9;

/// Returns the maximum budget that can be saved, in bytes. It is the rate for a tenth of a second, but at least 1,024,
/// so that pieces do not become too small.
static int64_t burst_of(const nc_pace *pace) {
    uint64_t tenth = pace->bytes_per_s / 10;
    uint64_t capped = tenth < (uint64_t)INT64_MAX / 4 ? tenth : (uint64_t)INT64_MAX / 4;
    return capped > 1024 ? (int64_t)capped : 1024;
}

nc_pace nc_pace_make(uint64_t bytes_per_s, uint64_t now_ns) {
    nc_pace pace = {.bytes_per_s = bytes_per_s, .refilled_ns = now_ns};
    pace.left = burst_of(&pace);
    return pace;
}

static void refill(nc_pace *pace, uint64_t now_ns) {
    if (now_ns <= pace->refilled_ns) {
        return;
    }
    // Floating point multiplies rates and times of any size without overflow. An error of one byte is acceptable.
    double earned = (double)(now_ns - pace->refilled_ns) * (double)pace->bytes_per_s / ns_per_s;
    int64_t burst = burst_of(pace);
    if (earned < 1) {
        return; // `refilled_ns` does not change, so that a fraction of a byte is not lost.
    }
    pace->refilled_ns = now_ns;
    pace->left = (double)pace->left + earned >= (double)burst ? burst : pace->left + (int64_t)earned;
}

void nc_pace_set_packets(nc_pace *pace, size_t packet_bytes, uint32_t delay_ms) {
    pace->packet_bytes = packet_bytes;
    pace->delay_ns = (uint64_t)delay_ms * 1000000u;
}

void nc_pace_set_rate(nc_pace *pace, uint64_t bytes_per_s, uint64_t now_ns) {
    refill(pace, now_ns);
    pace->bytes_per_s = bytes_per_s;
    int64_t burst = burst_of(pace);
    pace->left = pace->left < burst ? pace->left : burst;
}

void nc_pace_spend(nc_pace *pace, uint64_t bytes, uint64_t now_ns) {
    pace->next_ns = pace->delay_ns != 0 && bytes > 0 ? now_ns + pace->delay_ns : 0;
    if (pace->bytes_per_s != 0) {
        refill(pace, now_ns);
        pace->left -= bytes < (uint64_t)INT64_MAX / 4 ? (int64_t)bytes : INT64_MAX / 4;
    }
}

uint64_t nc_pace_ready_ns(const nc_pace *pace) {
    if (pace->bytes_per_s == 0 || pace->left > 0) {
        return pace->next_ns;
    }
    double wait_ns = ((double)-pace->left + 1) * ns_per_s / (double)pace->bytes_per_s;
    uint64_t paid_ns = wait_ns >= 9e18 ? UINT64_MAX : pace->refilled_ns + (uint64_t)wait_ns + 1;
    return paid_ns > pace->next_ns ? paid_ns : pace->next_ns;
}

size_t nc_pace_room(nc_pace *pace, uint64_t now_ns) {
    size_t packet = pace->packet_bytes != 0 ? pace->packet_bytes : SIZE_MAX;
    if (now_ns < pace->next_ns) {
        return 0;
    }
    if (pace->bytes_per_s == 0) {
        return packet;
    }
    refill(pace, now_ns);
    size_t left = pace->left > 0 ? (size_t)pace->left : 0;
    return left < packet ? left : packet;
}

/* --- measured speed --- */

static const uint64_t second_ns = 1000000000;

static uint64_t whole_of(double value) {
    return value < (double)UINT64_MAX ? (uint64_t)value : UINT64_MAX;
}

void nc_speed_record(nc_speed *speed, uint64_t moved_bytes, uint64_t now_ns) {
    if (speed->since_ns == 0) {
        speed->since_ns = now_ns;
    }
    uint64_t passed_ns = now_ns > speed->since_ns ? now_ns - speed->since_ns : 0;
    uint64_t bytes = moved_bytes > speed->since_bytes ? moved_bytes - speed->since_bytes : 0;
    uint64_t rate = passed_ns == 0 ? 0 : whole_of((double)bytes * (double)second_ns / (double)passed_ns);
    if (passed_ns >= second_ns) {
        // The average with the previous rate keeps the remaining time from jumping. A previous rate that was measured
        // over less than a second is replaced, not averaged.
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
