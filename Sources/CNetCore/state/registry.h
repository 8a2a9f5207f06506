/// Finds transfers by id. An id contains a slot's index and generation, so that no id is reused. The engine's mutex
/// guards the registry.
#ifndef NETCORE_PRIVATE_REGISTRY_H
#define NETCORE_PRIVATE_REGISTRY_H

#include "state/transfer_record.h"

typedef struct nc_registry_slot {
    nc_transfer *transfer; // NULL while the slot is free
    uint64_t generation;
    uint32_t next_free; // index + 1
} nc_registry_slot;

typedef struct nc_registry {
    nc_registry_slot *slots;
    uint32_t count;
    uint32_t capacity;
    uint32_t first_free; // index + 1; 0 if none is free
    uint64_t first_generation;
} nc_registry;

/// Returns an empty registry. Its ids differ from those of the 4,095 registries created before it.
nc_registry nc_registry_init(void);

void nc_registry_deinit(nc_registry *registry);
/// Assigns an id to the transfer. Returns NC_OK, NC_ERR_NO_MEMORY, or NC_ERR_TOO_LARGE above 2^24 concurrent transfers.
NC_NODISCARD nc_status nc_registry_add(nc_registry *registry, nc_transfer *transfer);
/// Returns the transfer with this id, or NULL if it has ended or never existed.
nc_transfer *nc_registry_find(const nc_registry *registry, nc_transfer_id id);
void nc_registry_remove(nc_registry *registry, nc_transfer_id id);

#endif
