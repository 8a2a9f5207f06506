#include "event_loop/sockets.h"

#include "base/alloc.h"
#include "base/fnv.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

void nc_sockets_init(nc_sockets *sockets, nc_poller *poller) {
    *sockets = (nc_sockets){.poller = poller};
}

void nc_sockets_deinit(nc_sockets *sockets) {
    nc_free(sockets->entries);
    *sockets = (nc_sockets){0};
}

static nc_socket_entry *entry_of(nc_sockets *sockets, int fd) {
    size_t index = (size_t)fd;
    if (index >= sockets->capacity) {
        size_t capacity = (index + 32) * 2;
        nc_socket_entry *entries = nc_realloc(sockets->entries, capacity * sizeof *entries);
        if (entries == NULL) {
            return NULL;
        }
        for (size_t i = sockets->capacity; i < capacity; i++) {
            entries[i] = (nc_socket_entry){0};
        }
        sockets->entries = entries;
        sockets->capacity = capacity;
    }
    return &sockets->entries[index];
}

static nc_status update_poller(nc_sockets *sockets, int fd, nc_socket_entry *entry, uint8_t wanted) {
    if (entry->polled == wanted) {
        return NC_OK;
    }
    nc_status status = sockets->poller->kind->change(sockets->poller, fd, entry->polled, wanted);
    if (status == NC_OK) {
        entry->polled = wanted;
    }
    return status;
}

static void remove_from_bucket(nc_sockets *sockets, int fd) {
    nc_socket_entry *entry = &sockets->entries[fd];
    int *link = &sockets->idle_buckets[entry->key % NC_SOCKET_BUCKETS];
    while (*link != 0 && *link != fd + 1) {
        link = &sockets->entries[*link - 1].next_idle;
    }
    if (*link != 0) {
        *link = entry->next_idle;
    }
}

nc_status nc_sockets_opened(nc_sockets *sockets, int fd, uint64_t connection_id) {
    nc_socket_entry *entry = entry_of(sockets, fd);
    if (entry == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    // The number may be that of an earlier descriptor, whose registration ended when it was closed.
    (void)update_poller(sockets, fd, entry, 0);
    remove_from_bucket(sockets, fd);
    *entry = (nc_socket_entry){.is_opened_by_engine = true, .connection_id = connection_id};
    return NC_OK;
}

uint64_t nc_sockets_connection(const nc_sockets *sockets, int fd) {
    return fd >= 0 && (size_t)fd < sockets->capacity ? sockets->entries[fd].connection_id : 0;
}

/// Keys of Unix socket paths have this bit set, so they are above all ports.
enum { PATH_KEY_BIT = 1 << 16 };

uint32_t nc_sockets_key(const char *unix_socket, int local_port) {
    if (unix_socket == NULL) {
        return (uint32_t)local_port;
    }
    return nc_fnv_fold(nc_fnv_add(NC_FNV_START, nc_slice_of(unix_socket))) | PATH_KEY_BIT;
}

void nc_sockets_idle(nc_sockets *sockets, int fd, uint32_t key) {
    nc_socket_entry *entry = nc_sockets_connection(sockets, fd) != 0 ? &sockets->entries[fd] : NULL;
    if (entry == NULL || key == 0 || entry->key == key) {
        return;
    }
    remove_from_bucket(sockets, fd);
    int *bucket = &sockets->idle_buckets[key % NC_SOCKET_BUCKETS];
    entry->key = key;
    entry->next_idle = *bucket;
    *bucket = fd + 1;
}

bool nc_sockets_has_port(int fd, int local_port) {
    union {
        struct sockaddr_storage any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
    } address;
    socklen_t length = sizeof address;
    if (fd < 0 || getsockname(fd, (struct sockaddr *)&address, &length) != 0) {
        return false;
    }
    return (address.any.ss_family == AF_INET && ntohs(address.v4.sin_port) == local_port) ||
           (address.any.ss_family == AF_INET6 && ntohs(address.v6.sin6_port) == local_port);
}

uint64_t nc_sockets_idle_connection(const nc_sockets *sockets, uint32_t key) {
    uint64_t found = 0;
    int next = key != 0 ? sockets->idle_buckets[key % NC_SOCKET_BUCKETS] : 0;
    for (; next != 0; next = sockets->entries[next - 1].next_idle) {
        const nc_socket_entry *entry = &sockets->entries[next - 1];
        if (entry->key == key && found != 0) {
            return 0; // ambiguous: several sockets have this key
        }
        found = entry->key == key ? entry->connection_id : found;
    }
    return found;
}

static bool has_unread(int fd) {
    char byte;
    ssize_t got = recv(fd, &byte, sizeof byte, MSG_PEEK | MSG_DONTWAIT);
    return got >= 0 || !(errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

bool nc_sockets_has_unread(const nc_sockets *sockets, uint32_t key) {
    int next = key != 0 ? sockets->idle_buckets[key % NC_SOCKET_BUCKETS] : 0;
    // Several sockets may have the same key: a port, if their peers differ, or a path. In that case a usable connection
    // may be closed too. With a path, sockets that are being read are excluded.
    for (; next != 0; next = sockets->entries[next - 1].next_idle) {
        const nc_socket_entry *entry = &sockets->entries[next - 1];
        if (entry->key == key && (key < PATH_KEY_BIT || entry->wanted == 0) && has_unread(next - 1)) {
            return true;
        }
    }
    return false;
}

bool nc_sockets_is_unread(const nc_sockets *sockets, int fd) {
    return nc_sockets_connection(sockets, fd) != 0 && has_unread(fd);
}

static bool is_silent(int fd, uint64_t for_ns) {
#ifdef __linux__
    struct tcp_info info;
    socklen_t length = sizeof info;
    return getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) == 0 && length == sizeof info &&
           (uint64_t)info.tcpi_last_data_recv * 1000000u >= for_ns;
#else
    (void)fd;
    (void)for_ns;
    return false;
#endif
}

bool nc_sockets_are_silent(const nc_sockets *sockets, uint32_t key, uint64_t for_ns) {
    bool is_any = false;
    int next = key != 0 ? sockets->idle_buckets[key % NC_SOCKET_BUCKETS] : 0;
    for (; next != 0; next = sockets->entries[next - 1].next_idle) {
        if (sockets->entries[next - 1].key == key && !is_silent(next - 1, for_ns)) {
            return false; // it may be the socket in question
        }
        is_any = is_any || sockets->entries[next - 1].key == key;
    }
    return is_any;
}

void nc_sockets_closing(nc_sockets *sockets, int fd) {
    if ((size_t)fd < sockets->capacity) {
        nc_socket_entry *entry = &sockets->entries[fd];
        (void)update_poller(sockets, fd, entry, 0);
        remove_from_bucket(sockets, fd);
        *entry = (nc_socket_entry){0};
    }
}

nc_status nc_sockets_want(nc_sockets *sockets, int fd, int wanted, void *owner) {
    if (fd < 0) {
        return NC_OK; // libcurl sometimes reports a connection that it has already closed
    }
    nc_socket_entry *entry = entry_of(sockets, fd);
    if (entry == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    entry->wanted = (uint8_t)wanted;
    entry->owner = wanted != 0 ? owner : NULL;
    if (entry->is_opened_by_engine && wanted == 0) {
        return NC_OK;
    }
    return update_poller(sockets, fd, entry, entry->wanted);
}

bool nc_sockets_is_wanted(const nc_sockets *sockets, int fd) {
    return fd >= 0 && (size_t)fd < sockets->capacity && sockets->entries[fd].wanted != 0;
}

bool nc_sockets_is_read(const nc_sockets *sockets, int fd) {
    return fd >= 0 && (size_t)fd < sockets->capacity && (sockets->entries[fd].wanted & NC_WANT_READ) != 0;
}

bool nc_sockets_is_unwanted(const nc_sockets *sockets, int fd) {
    return nc_sockets_connection(sockets, fd) != 0 && sockets->entries[fd].wanted == 0;
}

void *nc_sockets_owner(nc_sockets *sockets, int fd) {
    if ((size_t)fd >= sockets->capacity) {
        return NULL;
    }
    nc_socket_entry *entry = &sockets->entries[fd];
    if (entry->wanted == 0) {
        (void)update_poller(sockets, fd, entry, 0);
    }
    return entry->owner;
}

void nc_sockets_forget_owner(nc_sockets *sockets, const void *owner) {
    for (size_t i = 0; i < sockets->capacity; i++) {
        if (sockets->entries[i].owner == owner) {
            sockets->entries[i].owner = NULL;
        }
    }
}
