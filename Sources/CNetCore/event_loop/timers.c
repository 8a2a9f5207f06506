#include "event_loop/timers.h"

#include "base/alloc.h"
#include "base/error.h"

void nc_timers_deinit(nc_timers *timers) {
    nc_free(timers->heap);
    *timers = (nc_timers){0};
}

nc_status nc_timers_announce(nc_timers *timers) {
    if (timers->announced == timers->capacity) {
        size_t capacity = timers->capacity == 0 ? 64 : timers->capacity * 2;
        nc_timer **heap = nc_realloc(timers->heap, capacity * sizeof(nc_timer *));
        if (heap == NULL) {
            return NC_ERR_NO_MEMORY;
        }
        timers->heap = heap;
        timers->capacity = capacity;
    }
    timers->announced++;
    return NC_OK;
}

void nc_timers_withdraw(nc_timers *timers) {
    NC_ASSERT(timers->announced > 0);
    timers->announced--;
}

static void put(nc_timers *timers, size_t index, nc_timer *timer) {
    timers->heap[index] = timer;
    timer->heap_index = index + 1;
}

static void sift_up(nc_timers *timers, size_t index, nc_timer *timer) {
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (timers->heap[parent]->at_ns <= timer->at_ns) {
            break;
        }
        put(timers, index, timers->heap[parent]);
        index = parent;
    }
    put(timers, index, timer);
}

static void sift_down(nc_timers *timers, size_t index, nc_timer *timer) {
    for (;;) {
        size_t child = index * 2 + 1;
        if (child >= timers->count) {
            break;
        }
        if (child + 1 < timers->count && timers->heap[child + 1]->at_ns < timers->heap[child]->at_ns) {
            child++;
        }
        if (timers->heap[child]->at_ns >= timer->at_ns) {
            break;
        }
        put(timers, index, timers->heap[child]);
        index = child;
    }
    put(timers, index, timer);
}

void nc_timers_set(nc_timers *timers, nc_timer *timer, uint64_t at_ns) {
    uint64_t before = timer->at_ns;
    timer->at_ns = at_ns;
    if (timer->heap_index == 0) {
        NC_ASSERT(timers->count < timers->announced);
        sift_up(timers, timers->count++, timer);
    } else if (at_ns < before) {
        sift_up(timers, timer->heap_index - 1, timer);
    } else {
        sift_down(timers, timer->heap_index - 1, timer);
    }
}

void nc_timers_clear(nc_timers *timers, nc_timer *timer) {
    if (timer->heap_index == 0) {
        return;
    }
    size_t index = timer->heap_index - 1;
    timer->heap_index = 0;
    nc_timer *last = timers->heap[--timers->count];
    if (last != timer) {
        if (index > 0 && timers->heap[(index - 1) / 2]->at_ns > last->at_ns) {
            sift_up(timers, index, last);
        } else {
            sift_down(timers, index, last);
        }
    }
}

nc_timer *nc_timers_take_due(nc_timers *timers, uint64_t now_ns) {
    if (timers->count == 0 || timers->heap[0]->at_ns > now_ns) {
        return NULL;
    }
    nc_timer *timer = timers->heap[0];
    nc_timers_clear(timers, timer);
    return timer;
}

uint64_t nc_timers_next_ns(const nc_timers *timers) {
    return timers->count == 0 ? UINT64_MAX : timers->heap[0]->at_ns;
}
