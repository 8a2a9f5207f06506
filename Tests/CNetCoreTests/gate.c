#include "gate.h"

#include "fixture.h"

#include <time.h>

void gate_open(gate *one) {
    pthread_mutex_lock(&one->mutex);
    one->count++;
    pthread_cond_broadcast(&one->condition);
    pthread_mutex_unlock(&one->mutex);
}

void gate_wait_for(gate *one, unsigned count) {
    struct timespec until;
    int code = 0;
    assert_int_equal(clock_gettime(CLOCK_REALTIME, &until), 0);
    until.tv_sec += FIXTURE_LIMIT_MS / 1000;
    pthread_mutex_lock(&one->mutex);
    while (one->count < count && code == 0) {
        code = pthread_cond_timedwait(&one->condition, &one->mutex, &until);
    }
    bool is_open = one->count >= count;
    pthread_mutex_unlock(&one->mutex);
    assert_true(is_open);
}

void gate_wait(gate *one) {
    gate_wait_for(one, 1);
}
