#include "store/index.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 64 };

static uint64_t word_of(const uint8_t *bytes) {
    uint64_t word = 0;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/// Mixes both halves of a product of two seeded words. The digest alone is not enough: keys whose digests share some
/// bits are easy to find.
static uint32_t bucket_of(const nc_index *index, const uint8_t id[NC_STORE_ID_BYTES]) {
    uint64_t a = word_of(id) ^ index->seed[0];
    uint64_t b = word_of(id + 8) ^ index->seed[1];
    uint64_t low = (a & UINT32_MAX) * (b >> 32);
    uint64_t high = (a >> 32) * (b & UINT32_MAX);
    uint64_t mixed = (a * b) ^ (a >> 32) * (b >> 32) ^ low ^ (high << 1);
    mixed ^= mixed >> 29;
    return (uint32_t)(mixed ^ mixed >> 32) & (index->bucket_count - 1);
}

static bool is_same(const nc_store_name *a, const nc_store_name *b) {
    return a->slot == b->slot && memcmp(a->id, b->id, NC_STORE_ID_BYTES) == 0;
}

/* --- the ring --- */

static void unlink_record(nc_index *index, nc_record *record) {
    index->records[record->newer].older = record->older;
    index->records[record->older].newer = record->newer;
}

static void link_as_newest(nc_index *index, uint32_t number) {
    nc_record *head = &index->records[0];
    nc_record *record = &index->records[number];
    record->newer = 0;
    record->older = head->older;
    index->records[head->older].newer = number;
    head->older = number;
}

static uint32_t number_of(const nc_index *index, const nc_record *record) {
    return (uint32_t)(record - index->records);
}

/* --- growth --- */

void nc_index_deinit(nc_index *index) {
    nc_free(index->records);
    nc_free(index->buckets);
    *index = (nc_index){.seed = {index->seed[0], index->seed[1]}};
}

static void hash_again(nc_index *index) {
    memset(index->buckets, 0, index->bucket_count * sizeof *index->buckets);
    for (uint32_t number = index->records[0].newer; number != 0; number = index->records[number].newer) {
        nc_record *record = &index->records[number];
        uint32_t bucket = bucket_of(index, record->name.id);
        record->next = index->buckets[bucket];
        index->buckets[bucket] = number;
    }
}

bool nc_index_reserve(nc_index *index) {
    if (index->free_number != 0 || index->used_numbers < index->capacity) {
        return true;
    }
    if (index->capacity > UINT32_MAX / 4) {
        return false;
    }
    uint32_t capacity = index->capacity == 0 ? FIRST_CAPACITY : index->capacity * 2;
    nc_record *records = nc_realloc(index->records, capacity * sizeof *records);
    if (records == NULL) {
        return false;
    }
    if (index->records == NULL) {
        records[0] = (nc_record){.newer = 0, .older = 0};
        index->used_numbers = 1;
    }
    index->records = records;
    uint32_t *buckets = nc_realloc(index->buckets, capacity * sizeof *buckets);
    if (buckets == NULL) {
        return false; // more records than the count are harmless
    }
    index->buckets = buckets;
    index->bucket_count = capacity;
    index->capacity = capacity;
    hash_again(index);
    return true;
}

/* --- records --- */

nc_record *nc_index_find(const nc_index *index, const nc_store_name *name) {
    if (index->bucket_count == 0) {
        return NULL;
    }
    for (uint32_t number = index->buckets[bucket_of(index, name->id)]; number != 0;
         number = index->records[number].next) {
        if (is_same(&index->records[number].name, name)) {
            return &index->records[number];
        }
    }
    return NULL;
}

void nc_index_find_all(uint64_t file_bytes[NC_STORE_SLOTS], const nc_index *index,
                       const uint8_t id[NC_STORE_ID_BYTES]) {
    for (size_t slot = 0; slot < NC_STORE_SLOTS; slot++) {
        file_bytes[slot] = UINT64_MAX;
    }
    if (index->bucket_count == 0) {
        return;
    }
    for (uint32_t number = index->buckets[bucket_of(index, id)]; number != 0; number = index->records[number].next) {
        const nc_record *record = &index->records[number];
        if (memcmp(record->name.id, id, NC_STORE_ID_BYTES) == 0) {
            file_bytes[record->name.slot] = record->file_bytes;
        }
    }
}

void nc_index_use(nc_index *index, nc_record *record, int64_t used_at_ms) {
    record->used_at_ms = used_at_ms;
    unlink_record(index, record);
    link_as_newest(index, number_of(index, record));
}

void nc_index_set(nc_index *index, const nc_store_name *name, uint64_t file_bytes, int64_t used_at_ms) {
    nc_record *record = nc_index_find(index, name);
    if (record != NULL) {
        index->bytes += file_bytes - record->file_bytes;
        record->file_bytes = file_bytes;
        nc_index_use(index, record, used_at_ms);
        return;
    }
    uint32_t number = index->free_number;
    if (number != 0) {
        index->free_number = index->records[number].next;
    } else {
        number = index->used_numbers++;
    }
    uint32_t *bucket = &index->buckets[bucket_of(index, name->id)];
    index->records[number] =
        (nc_record){.file_bytes = file_bytes, .used_at_ms = used_at_ms, .next = *bucket, .name = *name};
    *bucket = number;
    link_as_newest(index, number);
    index->record_count++;
    index->bytes += file_bytes;
}

bool nc_index_remove(nc_index *index, const nc_store_name *name) {
    nc_record *record = nc_index_find(index, name);
    if (record == NULL) {
        return false;
    }
    uint32_t number = number_of(index, record);
    uint32_t *place = &index->buckets[bucket_of(index, name->id)];
    while (*place != number) {
        place = &index->records[*place].next;
    }
    *place = record->next;
    unlink_record(index, record);
    index->bytes -= record->file_bytes;
    index->record_count--;
    record->next = index->free_number;
    index->free_number = number;
    return true;
}

nc_record *nc_index_oldest(const nc_index *index) {
    return index->record_count == 0 ? NULL : &index->records[index->records[0].newer];
}

/* --- order --- */

typedef struct moment {
    int64_t used_at_ms;
    uint32_t number;
    uint32_t place; // position among records of the same time
} moment;

static int compare(const void *a, const void *b) {
    const moment *left = a;
    const moment *right = b;
    if (left->used_at_ms != right->used_at_ms) {
        return left->used_at_ms < right->used_at_ms ? -1 : 1;
    }
    return left->place < right->place ? -1 : left->place > right->place;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/// Collects the times of the records in both indexes. Not every use is recorded with a time. A record's use is at least
/// as late as that of every record before it in the order of `before`.
static uint32_t collect_known(moment *moments, const nc_index *index, const nc_index *before) {
    uint32_t count = 0;
    int64_t used_at_ms = INT64_MIN;
    if (before->record_count == 0) {
        return 0;
    }
    for (uint32_t number = before->records[0].newer; number != 0; number = before->records[number].newer) {
        const nc_record *known = &before->records[number];
        const nc_record *record = nc_index_find(index, &known->name);
        used_at_ms = later(used_at_ms, known->used_at_ms);
        if (record != NULL) {
            moments[count] = (moment){later(used_at_ms, record->used_at_ms), number_of(index, record), count};
            count++;
        }
    }
    return count;
}

bool nc_index_sort(nc_index *index, const nc_index *before) {
    if (index->record_count < 2) {
        return true;
    }
    moment *moments = nc_alloc(index->record_count * sizeof *moments);
    if (moments == NULL) {
        return false;
    }
    uint32_t count = collect_known(moments, index, before);
    for (uint32_t number = index->records[0].newer; number != 0; number = index->records[number].newer) {
        const nc_record *record = &index->records[number];
        if (nc_index_find(before, &record->name) == NULL) {
            moments[count] = (moment){record->used_at_ms, number, count};
            count++;
        }
    }
    qsort(moments, count, sizeof *moments, compare);
    index->records[0].newer = 0;
    index->records[0].older = 0;
    for (uint32_t i = 0; i < count; i++) {
        link_as_newest(index, moments[i].number);
    }
    nc_free(moments);
    return true;
}
