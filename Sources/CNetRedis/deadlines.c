#if defined(NETKIT_REDIS) || !defined(SWIFT_PACKAGE)
/// A binary heap of commands by their deadline. Each command knows its position, so that it can be removed.
#include "internal.h"

#include <stdlib.h>

static void place(nc_redis_deadlines *heap, size_t index, nc_redis_pending *pending) {
    heap->items[index] = pending;
    pending->heap_index = index + 1;
}

static void sift_up(nc_redis_deadlines *heap, size_t index, nc_redis_pending *pending) {
    while (index > 0 && heap->items[(index - 1) / 2]->deadline_ns > pending->deadline_ns) {
        place(heap, index, heap->items[(index - 1) / 2]);
        index = (index - 1) / 2;
    }
    place(heap, index, pending);
}

static void sift_down(nc_redis_deadlines *heap, size_t index, nc_redis_pending *pending) {
    for (size_t child = 2 * index + 1; child < heap->count; child = 2 * index + 1) {
        if (child + 1 < heap->count && heap->items[child + 1]->deadline_ns < heap->items[child]->deadline_ns) {
            child++;
        }
        if (heap->items[child]->deadline_ns >= pending->deadline_ns) {
            break;
        }
        place(heap, index, heap->items[child]);
        index = child;
    }
    place(heap, index, pending);
}

bool nc_redis_deadlines_add(nc_redis_deadlines *heap, nc_redis_pending *pending) {
    if (heap->count == heap->capacity) {
        size_t capacity = heap->capacity == 0 ? 64 : heap->capacity * 2;
        nc_redis_pending **items = realloc(heap->items, capacity * sizeof *items);
        if (items == NULL) {
            return false;
        }
        heap->items = items;
        heap->capacity = capacity;
    }
    heap->count++;
    sift_up(heap, heap->count - 1, pending);
    return true;
}

void nc_redis_deadlines_remove(nc_redis_deadlines *heap, nc_redis_pending *pending) {
    if (pending->heap_index == 0) {
        return;
    }
    size_t index = pending->heap_index - 1;
    nc_redis_pending *last = heap->items[heap->count - 1];
    pending->heap_index = 0;
    heap->count--;
    if (last != pending) {
        if (index > 0 && heap->items[(index - 1) / 2]->deadline_ns > last->deadline_ns) {
            sift_up(heap, index, last);
        } else {
            sift_down(heap, index, last);
        }
    }
}

#endif
