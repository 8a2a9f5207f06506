#include "state/registry.h"

#include "base/alloc.h"

#include <stdatomic.h>

// An id consists of the engine's number, the slot's generation and the slot's index. After 2^28 uses of a slot, its ids
// could equal those of another engine.
enum { INDEX_BITS = 24, GENERATION_BITS = 28, ENGINE_BITS = 64 - INDEX_BITS - GENERATION_BITS };
static const uint32_t max_slots = 1u << INDEX_BITS;

nc_registry nc_registry_init(void) {
    static atomic_uint_fast64_t made;
    uint64_t number = atomic_fetch_add_explicit(&made, 1, memory_order_relaxed) & ((1u << ENGINE_BITS) - 1);
    return (nc_registry){.first_generation = number << GENERATION_BITS};
}

void nc_registry_deinit(nc_registry *registry) {
    nc_free(registry->slots);
    *registry = (nc_registry){0};
}

static nc_status grow(nc_registry *registry) {
    uint32_t capacity = registry->capacity == 0 ? 64 : registry->capacity * 2;
    if (registry->capacity >= max_slots) {
        return NC_ERR_TOO_LARGE;
    }
    nc_registry_slot *slots = nc_realloc(registry->slots, (size_t)capacity * sizeof *slots);
    if (slots == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    registry->slots = slots;
    registry->capacity = capacity;
    return NC_OK;
}

nc_status nc_registry_add(nc_registry *registry, nc_transfer *transfer) {
    uint32_t index = registry->first_free;
    if (index == 0) {
        if (registry->count == registry->capacity) {
            nc_status status = grow(registry);
            if (status != NC_OK) {
                return status;
            }
        }
        registry->slots[registry->count] = (nc_registry_slot){.generation = registry->first_generation};
        index = ++registry->count;
    } else {
        registry->first_free = registry->slots[index - 1].next_free;
    }
    nc_registry_slot *slot = &registry->slots[index - 1];
    slot->transfer = transfer;
    slot->generation++; // begins with 1, so that no id is 0
    transfer->id = slot->generation << INDEX_BITS | (index - 1);
    return NC_OK;
}

static nc_registry_slot *slot_of(const nc_registry *registry, nc_transfer_id id) {
    uint64_t index = id & (max_slots - 1);
    if (index >= registry->count || registry->slots[index].generation != id >> INDEX_BITS) {
        return NULL;
    }
    return &registry->slots[index];
}

nc_transfer *nc_registry_find(const nc_registry *registry, nc_transfer_id id) {
    nc_registry_slot *slot = slot_of(registry, id);
    return slot != NULL ? slot->transfer : NULL;
}

void nc_registry_remove(nc_registry *registry, nc_transfer_id id) {
    nc_registry_slot *slot = slot_of(registry, id);
    if (slot != NULL && slot->transfer != NULL) {
        slot->transfer = NULL;
        slot->next_free = registry->first_free;
        registry->first_free = (uint32_t)(id & (max_slots - 1)) + 1;
    }
}
