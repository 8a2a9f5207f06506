#include "net/poller.h"

#include "base/alloc.h"

#include <poll.h>

/// The portable backend: a dense array for poll(2), and an index from descriptor to array element.
typedef struct poll_poller {
    nc_poller base;
    struct pollfd *entries;
    size_t count;
    size_t capacity;
    size_t *places; // index + 1 of each descriptor; 0 if it is not in the set
    size_t place_capacity;
} poll_poller;

static nc_status make(nc_poller **out, nc_error *err) {
    poll_poller *poller = nc_alloc_zeroed(1, sizeof *poller);
    (void)err;
    if (poller == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    poller->base.kind = &nc_poller_poll;
    *out = &poller->base;
    return NC_OK;
}

static void unmake(nc_poller *base) {
    poll_poller *poller = (poll_poller *)base;
    nc_free(poller->entries);
    nc_free(poller->places);
    nc_free(poller);
}

static bool make_room(poll_poller *poller, size_t fd) {
    if (fd >= poller->place_capacity) {
        size_t capacity = (fd + 1) * 2;
        size_t *places = nc_realloc(poller->places, capacity * sizeof *places);
        if (places == NULL) {
            return false;
        }
        for (size_t i = poller->place_capacity; i < capacity; i++) {
            places[i] = 0;
        }
        poller->places = places;
        poller->place_capacity = capacity;
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

static void drop(poll_poller *poller, size_t place) {
    poller->places[(size_t)poller->entries[place].fd] = 0;
    poller->entries[place] = poller->entries[poller->count - 1];
    poller->count--;
    if (place < poller->count) {
        poller->places[(size_t)poller->entries[place].fd] = place + 1;
    }
}

static nc_status change(nc_poller *base, int fd, int before, int after) {
    poll_poller *poller = (poll_poller *)base;
    size_t index = (size_t)fd;
    size_t place = index < poller->place_capacity ? poller->places[index] : 0;
    (void)before;
    if (after == 0) {
        if (place != 0) {
            drop(poller, place - 1);
        }
        return NC_OK;
    }
    if (place == 0) {
        if (!make_room(poller, index)) {
            return NC_ERR_NO_MEMORY;
        }
        poller->entries[poller->count].fd = fd;
        poller->entries[poller->count].revents = 0;
        place = ++poller->count;
        poller->places[index] = place;
    }
    poller->entries[place - 1].events =
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

const nc_poller_kind nc_poller_poll = {false, make, unmake, change, wait_for};
