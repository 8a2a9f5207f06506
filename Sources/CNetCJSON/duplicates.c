#if defined(NETKIT_CJSON) || !defined(SWIFT_PACKAGE)
/// Duplicate names in an object of a tree.
#include "internal.h"

#include <stdlib.h>
#include <string.h>

enum {
    STACK_SLOTS = 64,
    PROBES_PER_MEMBER = 16, // more mean that the names were chosen to collide
};

/// A hash table of the members of one object.
typedef struct members {
    cJSON **slots;
    size_t mask;
    size_t probes_left;
} members;

/// Hashes the length, the first and the last eight bytes of a name.
static size_t hash_of(const char *name) {
    size_t length = strlen(name);
    size_t part = length < sizeof(uint64_t) ? length : sizeof(uint64_t);
    uint64_t first = 0;
    uint64_t last = 0;
    memcpy(&first, name, part);
    memcpy(&last, name + length - part, part);
    uint64_t hash = (first ^ (last << 29 | last >> 35) ^ length) * 0x9e3779b97f4a7c15u;
    return (size_t)(hash >> 32 ^ hash >> 15);
}

/// Removes `later` from the list, and puts it in the place of `earlier`, which is deleted.
static void replace(cJSON *object, cJSON *earlier, cJSON *later) {
    cJSON_DetachItemViaPointer(object, later);
    cJSON_ReplaceItemViaPointer(object, earlier, later);
}

/// Adds a member, or lets it replace an earlier one of the same name. Returns false if it took too many comparisons.
static bool add(members *table, cJSON *object, cJSON *member) {
    size_t at = hash_of(member->string) & table->mask;
    for (; table->slots[at] != NULL; at = (at + 1) & table->mask) {
        if (table->probes_left-- == 0) {
            return false;
        }
        if (strcmp(table->slots[at]->string, member->string) == 0) {
            replace(object, table->slots[at], member);
            break;
        }
    }
    table->slots[at] = member;
    return true;
}

/* --- names that were chosen to collide --- */

typedef struct position {
    cJSON *member;
    size_t index;
} position;

static int compare(const void *a, const void *b) {
    const position *one = a;
    const position *other = b;
    int order = strcmp(one->member->string, other->member->string);
    return order != 0 ? order : (one->index > other->index) - (one->index < other->index);
}

static nc_status keep_last_by_sorting(cJSON *object, size_t count) {
    position *sorted = cJSON_malloc(count * sizeof *sorted);
    if (sorted == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    size_t index = 0;
    for (cJSON *member = object->child; member != NULL; member = member->next, index++) {
        sorted[index] = (position){member, index};
    }
    qsort(sorted, index, sizeof *sorted, compare);
    for (size_t i = 1; i < index; i++) {
        if (strcmp(sorted[i - 1].member->string, sorted[i].member->string) == 0) {
            replace(object, sorted[i - 1].member, sorted[i].member);
        }
    }
    cJSON_free(sorted);
    return NC_OK;
}

nc_status nc_cjson_keep_last(cJSON *object) {
    size_t count = 0;
    for (const cJSON *member = object->child; member != NULL; member = member->next) {
        count++;
    }
    if (count < 2) {
        return NC_OK;
    }
    size_t slots = 4;
    while (slots < 2 * count) {
        slots *= 2;
    }
    cJSON *on_stack[STACK_SLOTS];
    members table = {slots <= STACK_SLOTS ? on_stack : cJSON_malloc(slots * sizeof(cJSON *)), slots - 1,
                     PROBES_PER_MEMBER * count};
    if (table.slots == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    memset(table.slots, 0, slots * sizeof(cJSON *));
    bool is_done = true;
    for (cJSON *member = object->child; is_done && member != NULL;) {
        cJSON *next = member->next;
        is_done = add(&table, object, member);
        member = next;
    }
    if (table.slots != on_stack) {
        cJSON_free(table.slots);
    }
    return is_done ? NC_OK : keep_last_by_sorting(object, count);
}
#endif
