#include "net/pace.h"

static const double ns_per_s = 1e9;

/// Returns the maximum of saved budget: a tenth of a second's worth, but at least a useful piece.
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
        return; // Kept until it is a byte.
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
