/// Which ids are alive: a number names a slot and the slot's generation, so that no number is ever used twice.
/// Touched only under the engine's mutex.
#ifndef NETCORE_PRIVATE_REGISTRY_H
#define NETCORE_PRIVATE_REGISTRY_H

#include "net/transfer.h"

typedef struct nc_registry_slot {
    nc_transfer *transfer; // NULL while the slot is free
    uint64_t generation;
    uint32_t next_free; // place + 1
} nc_registry_slot;

typedef struct nc_registry {
    nc_registry_slot *slots;
    uint32_t count;
    uint32_t capacity;
    uint32_t first_free; // place + 1; 0 when none is free
    uint64_t first_generation;
} nc_registry;

/// An empty registry, whose ids are none of those of the 4,095 that were made before it.
nc_registry nc_registry_init(void);

void nc_registry_deinit(nc_registry *registry);
/// Gives the transfer its id. NC_OK, NC_ERR_NO_MEMORY, NC_ERR_TOO_LARGE beyond 2^24 at once.
NC_NODISCARD nc_status nc_registry_add(nc_registry *registry, nc_transfer *transfer);
/// The transfer with this id; NULL when it is gone or never was.
nc_transfer *nc_registry_find(const nc_registry *registry, nc_transfer_id id);
void nc_registry_remove(nc_registry *registry, nc_transfer_id id);

#endif
