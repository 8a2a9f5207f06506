#include "event_loop/poller.h"

#include "base/alloc.h"

#include <poll.h>

/// The portable poller: a dense array for poll(2), and an index from descriptors to its elements.
typedef struct poll_poller {
    nc_poller base;
    struct pollfd *entries;
    size_t count;
    size_t capacity;
    size_t *positions; // index + 1 of each descriptor; 0 if it is not in the set
    size_t position_capacity;
} poll_poller;

static nc_status create(nc_poller **out, nc_error *err) {
    poll_poller *poller = nc_alloc_zeroed(1, sizeof *poller);
    (void)err;
    if (poller == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    poller->base.kind = &nc_poller_poll;
    *out = &poller->base;
    return NC_OK;
}

static void destroy(nc_poller *base) {
    poll_poller *poller = (poll_poller *)base;
    nc_free(poller->entries);
    nc_free(poller->positions);
    nc_free(poller);
}

static bool make_room(poll_poller *poller, size_t fd) {
    if (fd >= poller->position_capacity) {
        size_t capacity = (fd + 1) * 2;
        size_t *positions = nc_realloc(poller->positions, capacity * sizeof *positions);
        if (positions == NULL) {
            return false;
        }
        for (size_t i = poller->position_capacity; i < capacity; i++) {
            positions[i] = 0;
        }
        poller->positions = positions;
        poller->position_capacity = capacity;
    }
    if (poller->count == poller->capacity) {
        size_t capacity = poller->capacity == 0 ? 16 : poller->capacity * 2;
        struct pollfd *entries = nc_realloc(poller->entries, capacity * sizeof *entries);
        if (entries == NULL) {
            return false;
        }
        poller->entries = entries;
        poller->capacity = capacity;
    }
    return true;
}

static void drop(poll_poller *poller, size_t position) {
    poller->positions[(size_t)poller->entries[position].fd] = 0;
    poller->entries[position] = poller->entries[poller->count - 1];
    poller->count--;
    if (position < poller->count) {
        poller->positions[(size_t)poller->entries[position].fd] = position + 1;
    }
}

static nc_status change(nc_poller *base, int fd, int before, int after) {
    poll_poller *poller = (poll_poller *)base;
    size_t index = (size_t)fd;
    size_t position = index < poller->position_capacity ? poller->positions[index] : 0;
    (void)before;
    if (after == 0) {
        if (position != 0) {
            drop(poller, position - 1);
        }
        return NC_OK;
    }
    if (position == 0) {
        if (!make_room(poller, index)) {
            return NC_ERR_NO_MEMORY;
        }
        poller->entries[poller->count].fd = fd;
        poller->entries[poller->count].revents = 0;
        position = ++poller->count;
        poller->positions[index] = position;
    }
    poller->entries[position - 1].events =
        (short)(((after & NC_WANT_READ) != 0 ? POLLIN : 0) | ((after & NC_WANT_WRITE) != 0 ? POLLOUT : 0));
    return NC_OK;
}

static size_t wait_for(nc_poller *base, nc_poll_event *events, size_t capacity, uint64_t now_ns, uint64_t at_ns) {
    poll_poller *poller = (poll_poller *)base;
    int ready = poll(poller->entries, (nfds_t)poller->count, nc_poller_timeout_ms(now_ns, at_ns));
    size_t count = 0;
    for (size_t i = 0; i < poller->count && ready > 0 && count < capacity; i++) {
        short got = poller->entries[i].revents;
        if (got == 0) {
            continue;
        }
        events[count++] = (nc_poll_event){
            .fd = poller->entries[i].fd,
            .is_readable = (got & (POLLIN | POLLHUP | POLLERR)) != 0,
            .is_writable = (got & POLLOUT) != 0,
            .has_error = (got & (POLLERR | POLLNVAL)) != 0,
        };
    }
    return count;
}

const nc_poller_kind nc_poller_poll = {false, create, destroy, change, wait_for};
