#include "json/names.h"

#include "base/alloc.h"
#include "json/siphash.h"

#include <netcore/hooks.h>
#include <string.h>

#define NO_NAME UINT32_MAX
#define FIRST_CAPACITY 64u

typedef struct name_hash {
    nc_hash128 hash;
    uint32_t next; // the older name in the same chain
} name_hash;

/// A name is stored as 128 bits of SipHash-2-4 under a random key, never as text, so a name of any length takes 24
/// bytes. A server does not know the key and cannot construct collisions. The names of an object are removed when it
/// ends.
struct nc_names {
    nc_hash128 key;
    uint32_t max_names;
    name_hash *names; // a stack; the innermost object's names are on top
    uint32_t count;
    uint32_t capacity; // a power of two; also the number of chains
    uint32_t *chains;
    uint32_t *begins; // for each open object, the index of its first name
    uint32_t depth;
    uint32_t begin_capacity;
    nc_text_decoder decoder; // the current name
    nc_siphash hash;
};

nc_names *nc_names_new(uint32_t max_names) {
    nc_names *names = nc_alloc_zeroed(1, sizeof *names);
    if (names == NULL) {
        return NULL;
    }
    nc_random source = nc_random_system();
    if (!source.fill(source.ctx, (uint8_t *)names->key.words, sizeof names->key)) {
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

static uint32_t *chain_of(nc_names *names, const name_hash *name) {
    return &names->chains[name->hash.words[0] & (names->capacity - 1)];
}

/// Removes the newest names until `count` remain. The newest name is the first of its chain, so no search is needed.
static void pop_to(nc_names *names, uint32_t count) {
    while (names->count > count) {
        const name_hash *name = &names->names[--names->count];
        *chain_of(names, name) = name->next;
    }
}

void nc_names_reset(nc_names *names) {
    pop_to(names, 0);
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
    pop_to(names, names->begins[--names->depth]);
}

/// Doubles the capacity and rebuilds the chains. The newest name of a chain is its first.
static bool grow(nc_names *names) {
    uint32_t capacity = names->capacity == 0 ? FIRST_CAPACITY : names->capacity * 2;
    name_hash *grown = nc_realloc(names->names, capacity * sizeof *grown);
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

/// Returns true if the innermost object already has this name. The search ends at the first name of an outer object,
/// because the names behind it in the chain are even older.
static bool has_name(nc_names *names, const name_hash *name) {
    if (names->capacity == 0) {
        return false;
    }
    uint32_t begin = names->begins[names->depth - 1];
    uint32_t at = *chain_of(names, name);
    while (at != NO_NAME && at >= begin) {
        const name_hash *other = &names->names[at];
        if (nc_hash128_is_equal(other->hash, name->hash)) {
            return true;
        }
        at = other->next;
    }
    return false;
}

nc_names_result nc_names_add(nc_names *names, nc_hash128 hash) {
    name_hash name = {.hash = hash};
    if (has_name(names, &name)) {
        return NC_NAMES_DUPLICATE;
    }
    if (names->count == names->max_names) {
        return NC_NAMES_FULL;
    }
    if (names->count == names->capacity && !grow(names)) {
        return NC_NAMES_NO_MEMORY;
    }
    uint32_t *chain = chain_of(names, &name);
    name.next = *chain;
    *chain = names->count;
    names->names[names->count++] = name;
    return NC_NAMES_ADDED;
}

/// Adds the current name, whose text is complete. A duplicate is reported even if the limit is reached too.
static nc_status add(nc_names *names, nc_scan *scan, uint64_t offset) {
    switch (nc_names_add(names, nc_siphash_end(&names->hash))) {
    case NC_NAMES_ADDED:
        return NC_OK;
    case NC_NAMES_NO_MEMORY:
        return NC_ERR_NO_MEMORY;
    case NC_NAMES_DUPLICATE:
        nc_scan_fail(scan, NC_JSON_FAULT_DUPLICATE, offset, '"', "a unique name");
        return NC_ERR_BAD_JSON;
    default:
        nc_scan_fail(scan, NC_JSON_FAULT_NAMES, offset, '"', "fewer names");
        return NC_ERR_BAD_JSON;
    }
}

static void hash_characters(void *ctx, nc_slice characters) {
    nc_siphash_feed(ctx, characters);
}

nc_status nc_names_check(nc_names *names, nc_scan *scan, nc_slice part, unsigned flags, uint64_t offset) {
    if ((flags & NC_TEXT_FIRST) != 0) {
        nc_siphash_init(&names->hash, names->key);
        names->decoder = (nc_text_decoder){.keeps_lone_surrogates = true};
    }
    nc_text_decode(&names->decoder, part, hash_characters, &names->hash);
    if ((flags & NC_TEXT_LAST) == 0) {
        return NC_OK;
    }
    nc_text_decode_end(&names->decoder, hash_characters, &names->hash);
    return add(names, scan, offset);
}
