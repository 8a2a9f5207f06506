#define _GNU_SOURCE 1
#include "record.h"

#include <errno.h>
#include <string.h>
#include <time.h>

void nct_record_init(nct_record *record) {
    *record = (nct_record){0};
    pthread_mutex_init(&record->mutex, NULL);
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&record->changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

void nct_record_deinit(nct_record *record) {
    nct_bytes_deinit(&record->kept);
    nct_bytes_deinit(&record->rows);
    pthread_cond_destroy(&record->changed);
    pthread_mutex_destroy(&record->mutex);
}

static void lock(nct_record *record) {
    pthread_mutex_lock(&record->mutex);
}

static void unlock_changed(nct_record *record) {
    pthread_cond_broadcast(&record->changed);
    pthread_mutex_unlock(&record->mutex);
}

/* --- updates --- */

size_t nct_record_opened(nct_record *record) {
    lock(record);
    record->counts[NCT_COUNT_CONNECTIONS]++;
    record->counts[NCT_COUNT_OPEN]++;
    size_t number = ++record->last_connection;
    unlock_changed(record);
    return number;
}

void nct_record_closed(nct_record *record) {
    lock(record);
    record->counts[NCT_COUNT_OPEN]--;
    unlock_changed(record);
}

void nct_record_add(nct_record *record, nct_record_count what, size_t count) {
    lock(record);
    record->counts[what] += count;
    unlock_changed(record);
}

static void keep(nct_record *record, size_t connection, const nct_bytes *first, uint64_t full_length) {
    nct_record_row row = {record->kept.length, first->length, full_length, connection};
    size_t needed = record->kept.length + record->rows.length + first->length + sizeof row;
    // After a request that was not recorded, no later request is recorded either. So the index of a row is always the
    // number of its request.
    if (record->is_full || record->is_forgetful || needed > NCT_RECORD_TOTAL_BYTES ||
        !nct_bytes_append(&record->kept, nct_bytes_first(first), first->length) ||
        !nct_bytes_append(&record->rows, &row, sizeof row))
        record->is_full = true;
}

void nct_record_request(nct_record *record, size_t connection, const nct_bytes *first, uint64_t full_length) {
    lock(record);
    keep(record, connection, first, full_length);
    record->counts[NCT_COUNT_REQUESTS]++;
    unlock_changed(record);
}

uint64_t nct_record_stall(nct_record *record) {
    lock(record);
    record->counts[NCT_COUNT_STALLED]++;
    uint64_t ticket = ++record->last_stall;
    unlock_changed(record);
    return ticket;
}

void nct_record_stall_ended(nct_record *record, uint64_t ticket) {
    lock(record);
    if (ticket > record->released_stall)
        record->counts[NCT_COUNT_STALLED]--;
    unlock_changed(record);
}

uint64_t nct_record_released(nct_record *record) {
    lock(record);
    uint64_t ticket = record->released_stall;
    pthread_mutex_unlock(&record->mutex);
    return ticket;
}

/* --- inspection --- */

void nct_record_release_stalls(nct_record *record) {
    lock(record);
    record->released_stall = record->last_stall;
    record->counts[NCT_COUNT_STALLED] = 0;
    unlock_changed(record);
}

size_t nct_record_now(nct_record *record, nct_record_count what) {
    lock(record);
    size_t count = record->counts[what];
    pthread_mutex_unlock(&record->mutex);
    return count;
}

static struct timespec deadline_after(uint32_t timeout_ms) {
    struct timespec deadline;
    clock_gettime(CLOCK_MONOTONIC, &deadline);
    deadline.tv_sec += (time_t)(timeout_ms / 1000);
    deadline.tv_nsec += (long)(timeout_ms % 1000) * 1000000L;
    if (deadline.tv_nsec >= 1000000000L) {
        deadline.tv_nsec -= 1000000000L;
        deadline.tv_sec++;
    }
    return deadline;
}

bool nct_record_wait(nct_record *record, nct_record_count what, size_t count, uint32_t timeout_ms) {
    struct timespec deadline = deadline_after(timeout_ms);
    int failure = 0;
    lock(record);
    while (record->counts[what] < count && failure == 0)
        failure = pthread_cond_timedwait(&record->changed, &record->mutex, &deadline);
    bool is_reached = record->counts[what] >= count;
    pthread_mutex_unlock(&record->mutex);
    return is_reached;
}

bool nct_record_wait_for_silence(nct_record *record, uint32_t timeout_ms) {
    struct timespec deadline = deadline_after(timeout_ms);
    int failure = 0;
    lock(record);
    while (record->counts[NCT_COUNT_OPEN] != 0 && failure == 0)
        failure = pthread_cond_timedwait(&record->changed, &record->mutex, &deadline);
    bool is_silent = record->counts[NCT_COUNT_OPEN] == 0;
    pthread_mutex_unlock(&record->mutex);
    return is_silent;
}

/// Returns the row of a request, zeroed if there is none. The caller holds the lock.
static nct_record_row row_of(const nct_record *record, size_t index) {
    nct_record_row row = {0};
    if (index < record->rows.length / sizeof row)
        memcpy(&row, nct_bytes_first(&record->rows) + index * sizeof row, sizeof row);
    return row;
}

size_t nct_record_copy(nct_record *record, size_t index, void *bytes, size_t capacity) {
    lock(record);
    nct_record_row row = row_of(record, index);
    size_t length = row.kept_length < capacity ? row.kept_length : capacity;
    if (length != 0 && bytes != NULL)
        memcpy(bytes, nct_bytes_first(&record->kept) + row.offset, length);
    pthread_mutex_unlock(&record->mutex);
    return (size_t)row.full_length;
}

size_t nct_record_connection(nct_record *record, size_t index) {
    lock(record);
    size_t number = row_of(record, index).connection;
    pthread_mutex_unlock(&record->mutex);
    return number;
}

void nct_record_forget(nct_record *record) {
    lock(record);
    nct_bytes_deinit(&record->kept);
    nct_bytes_deinit(&record->rows);
    for (int what = 0; what < NCT_COUNT_STALLED; what++)
        record->counts[what] = 0;
    record->is_full = false;
    unlock_changed(record);
}
