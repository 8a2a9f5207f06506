#include "json/names.h"

#include "base/alloc.h"
#include "json/siphash.h"

#include <netcore/hooks.h>
#include <string.h>

#define NO_NAME UINT32_MAX
#define FIRST_CAPACITY 64u

typedef struct nc_name {
    uint64_t hash[2];
    uint32_t next; // the previous name in its chain
} nc_name;

struct nc_names {
    uint64_t key[2];
    uint32_t max_names;
    nc_name *names; // a stack with the innermost object's names on top
    uint32_t count;
    uint32_t capacity; // a power of two; also the number of chains
    uint32_t *chains;
    uint32_t *begins; // per open object, the index of its first name
    uint32_t depth;
    uint32_t begin_capacity;
    nc_text text; // the current name
    nc_siphash hash;
};

nc_names *nc_names_new(uint32_t max_names) {
    nc_names *names = nc_alloc_zeroed(1, sizeof *names);
    if (names == NULL) {
        return NULL;
    }
    nc_random source = nc_random_system();
    if (!source.fill(source.ctx, (uint8_t *)names->key, sizeof names->key)) {
        nc_free(names);
        return NULL;
    }
    names->max_names = max_names == 0 ? NC_JSON_DEFAULT_MAX_NAMES : max_names;
    return names;
}

void nc_names_free(nc_names *names) {
    if (names != NULL) {
        nc_free(names->names);
        nc_free(names->chains);
        nc_free(names->begins);
        nc_free(names);
    }
}

static uint32_t *chain_of(nc_names *names, const nc_name *name) {
    return &names->chains[name->hash[0] & (names->capacity - 1)];
}

/// Pops names. The name pushed last is the first of its chain, so no search is needed.
static void drop_to(nc_names *names, uint32_t count) {
    while (names->count > count) {
        const nc_name *name = &names->names[--names->count];
        *chain_of(names, name) = name->next;
    }
}

void nc_names_reset(nc_names *names) {
    drop_to(names, 0);
    names->depth = 0;
}

bool nc_names_begin(nc_names *names) {
    if (names->depth == names->begin_capacity) {
        uint32_t capacity = names->begin_capacity == 0 ? FIRST_CAPACITY : names->begin_capacity * 2;
        uint32_t *begins = nc_realloc(names->begins, capacity * sizeof *begins);
        if (begins == NULL) {
            return false;
        }
        names->begins = begins;
        names->begin_capacity = capacity;
    }
    names->begins[names->depth++] = names->count;
    return true;
}

void nc_names_end(nc_names *names) {
    drop_to(names, names->begins[--names->depth]);
}

static bool grow(nc_names *names) {
    uint32_t capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity * 2;
    nc_name *grown = nc_realloc(names->names, capacity * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    names->names = grown;
    uint32_t *chains = nc_alloc(capacity * sizeof *chains);
    if (chains == NULL) {
        return false;
    }
    nc_free(names->chains);
    names->chains = chains;
    names->capacity = capacity;
    memset(chains, 0xFF, capacity * sizeof *chains);
    for (uint32_t i = 0; i < names->count; i++) {
        uint32_t *chain = chain_of(names, &grown[i]);
        grown[i].next = *chain;
        *chain = i;
    }
    return true;
}

/// Returns true if the innermost object already has this name. Names of outer objects are older, so they follow in the
/// chain and end the search.
static bool has_had(nc_names *names, const nc_name *name) {
    if (names->capacity == 0) {
        return false;
    }
    uint32_t begin = names->begins[names->depth - 1];
    uint32_t at = *chain_of(names, name);
    while (at != NO_NAME && at >= begin) {
        const nc_name *other = &names->names[at];
        if (other->hash[0] == name->hash[0] && other->hash[1] == name->hash[1]) {
            return true;
        }
        at = other->next;
    }
    return false;
}

static nc_status add(nc_names *names, nc_scan *scan, uint64_t offset) {
    nc_name name = {0};
    nc_siphash_end(&names->hash, name.hash);
    if (has_had(names, &name)) {
        nc_scan_fail(scan, NC_JSON_FAULT_DUPLICATE, offset, '"', "a name that is new");
        return NC_ERR_BAD_JSON;
    }
    if (names->count == names->max_names) {
        nc_scan_fail(scan, NC_JSON_FAULT_NAMES, offset, '"', "fewer names");
        return NC_ERR_BAD_JSON;
    }
    if (names->count == names->capacity && !grow(names)) {
        return NC_ERR_NO_MEMORY;
    }
    uint32_t *chain = chain_of(names, &name);
    name.next = *chain;
    *chain = names->count;
    names->names[names->count++] = name;
    return NC_OK;
}

static void hash_part(void *ctx, nc_slice characters) {
    nc_siphash_feed(ctx, characters);
}

nc_status nc_names_check(nc_names *names, nc_scan *scan, nc_slice part, unsigned place, uint64_t offset) {
    if ((place & NC_TEXT_FIRST) != 0) {
        nc_siphash_init(&names->hash, names->key);
        names->text = (nc_text){.keeps_halves = true};
    }
    nc_text_feed(&names->text, part, hash_part, &names->hash);
    if ((place & NC_TEXT_LAST) == 0) {
        return NC_OK;
    }
    nc_text_end(&names->text, hash_part, &names->hash);
    return add(names, scan, offset);
}
