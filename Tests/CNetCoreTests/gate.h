/// A gate that one thread opens while others wait for it.
///
///     gate is_done = GATE_INIT;
///     … gate_open(&is_done) in a callback …
///     gate_wait(&is_done);
#ifndef NETCORE_TEST_GATE_H
#define NETCORE_TEST_GATE_H

#include <pthread.h>
#include <stdbool.h>

typedef struct gate {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    unsigned count; // number of gate_open() calls
} gate;

#define GATE_INIT                                                                                                      \
    { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0 }

/// Opens the gate permanently.
void gate_open(gate *one);
/// Waits until the gate is open. Fails the test after the time limit.
void gate_wait(gate *one);
/// Waits until the gate was opened `count` times.
void gate_wait_for(gate *one, unsigned count);

#endif
