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

/// Returns the hash bucket of a digest: mixes both halves of a product of its two words with the seed. The digest
/// itself is not a sufficient hash, because it is easy to find keys whose digests share some bits.
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

static void rebuild_buckets(nc_index *index) {
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
        return false; // `capacity` stays, so the larger array of records does no harm
    }
    index->buckets = buckets;
    index->bucket_count = capacity;
    index->capacity = capacity;
    rebuild_buckets(index);
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
    uint32_t *link = &index->buckets[bucket_of(index, name->id)];
    while (*link != number) {
        link = &index->records[*link].next;
    }
    *link = record->next;
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

typedef struct use_time {
    int64_t used_at_ms;
    uint32_t number;
    uint32_t link; // rank among records with the same time
} use_time;

static int compare(const void *a, const void *b) {
    const use_time *left = a;
    const use_time *right = b;
    if (left->used_at_ms != right->used_at_ms) {
        return left->used_at_ms < right->used_at_ms ? -1 : 1;
    }
    return left->link < right->link ? -1 : left->link > right->link;
}

static int64_t later(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/// Collects the times of the records that are in both indexes. A use may change the order in `before` without a new
/// time (see nc_store_record_use()). So a record's time is raised to that of the records before it.
static uint32_t collect_known(use_time *use_times, const nc_index *index, const nc_index *before) {
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
            use_times[count] = (use_time){later(used_at_ms, record->used_at_ms), number_of(index, record), count};
            count++;
        }
    }
    return count;
}

bool nc_index_sort(nc_index *index, const nc_index *before) {
    if (index->record_count < 2) {
        return true;
    }
    use_time *use_times = nc_alloc(index->record_count * sizeof *use_times);
    if (use_times == NULL) {
        return false;
    }
    uint32_t count = collect_known(use_times, index, before);
    for (uint32_t number = index->records[0].newer; number != 0; number = index->records[number].newer) {
        const nc_record *record = &index->records[number];
        if (nc_index_find(before, &record->name) == NULL) {
            use_times[count] = (use_time){record->used_at_ms, number, count};
            count++;
        }
    }
    qsort(use_times, count, sizeof *use_times, compare);
    index->records[0].newer = 0;
    index->records[0].older = 0;
    for (uint32_t i = 0; i < count; i++) {
        link_as_newest(index, use_times[i].number);
    }
    nc_free(use_times);
    return true;
}
