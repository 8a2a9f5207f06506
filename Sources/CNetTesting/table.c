#include "table.h"

#include <stdlib.h>
#include <string.h>

/// The scripts for successive requests of a path.
struct sequence {
    size_t count;
    size_t next;
    nct_script *scripts[];
};

struct nct_table_row {
    struct nct_table_row *next;
    struct sequence *sequence;
    size_t path_length;
    char path[];
};

/* --- one sequence --- */

static void free_sequence(struct sequence *sequence) {
    if (sequence == NULL)
        return;
    for (size_t i = 0; i < sequence->count; i++)
        nct_script_release(sequence->scripts[i]);
    free(sequence);
}

static struct sequence *new_sequence(const nct_reply *replies, size_t count) {
    struct sequence *sequence = calloc(1, sizeof *sequence + count * sizeof sequence->scripts[0]);
    if (sequence == NULL)
        return NULL;
    for (; sequence->count < count; sequence->count++) {
        nct_script *script = nct_script_new(&replies[sequence->count]);
        if (script == NULL) {
            free_sequence(sequence);
            return NULL;
        }
        sequence->scripts[sequence->count] = script;
    }
    return sequence;
}

static nct_script *take_next(struct sequence *sequence) {
    nct_script *script = sequence->scripts[sequence->next];
    if (sequence->next + 1 < sequence->count)
        sequence->next++;
    return script;
}

/* --- the table --- */

static struct nct_table_row **chain_of(nct_table *table, const void *path, size_t length) {
    const uint8_t *bytes = path;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ bytes[i]) * UINT64_C(1099511628211);
    return &table->rows[(hash >> 32) % (sizeof table->rows / sizeof table->rows[0])];
}

static struct nct_table_row *row_of(nct_table *table, const void *path, size_t length) {
    struct nct_table_row *row = *chain_of(table, path, length);
    while (row != NULL && (row->path_length != length || memcmp(row->path, path, length) != 0))
        row = row->next;
    return row;
}

bool nct_table_init(nct_table *table) {
    memset(table->rows, 0, sizeof table->rows);
    table->fallback = nct_script_new(&(nct_reply){.status = 404});
    if (table->fallback == NULL)
        return false;
    pthread_mutex_init(&table->mutex, NULL);
    return true;
}

void nct_table_deinit(nct_table *table) {
    if (table->fallback == NULL)
        return;
    for (size_t i = 0; i < sizeof table->rows / sizeof table->rows[0]; i++) {
        while (table->rows[i] != NULL) {
            struct nct_table_row *row = table->rows[i];
            table->rows[i] = row->next;
            free_sequence(row->sequence);
            free(row);
        }
    }
    nct_script_release(table->fallback);
    table->fallback = NULL;
    pthread_mutex_destroy(&table->mutex);
}

bool nct_table_set(nct_table *table, const char *path, const nct_reply *replies, size_t count) {
    struct sequence *sequence = new_sequence(replies, count);
    if (sequence == NULL)
        return false;
    size_t length = strlen(path);
    pthread_mutex_lock(&table->mutex);
    struct sequence *replaced = sequence;
    struct nct_table_row *row = row_of(table, path, length);
    if (row != NULL) {
        replaced = row->sequence;
        row->sequence = sequence;
    } else if ((row = malloc(sizeof *row + length)) != NULL) {
        struct nct_table_row **chain = chain_of(table, path, length);
        *row = (struct nct_table_row){.next = *chain, .sequence = sequence, .path_length = length};
        memcpy(row->path, path, length);
        *chain = row;
        replaced = NULL;
    }
    pthread_mutex_unlock(&table->mutex);
    free_sequence(replaced);
    return row != NULL;
}

nct_script *nct_table_next(nct_table *table, const void *path, size_t length) {
    pthread_mutex_lock(&table->mutex);
    struct nct_table_row *row = row_of(table, path, length);
    if (row == NULL)
        row = row_of(table, "*", 1);
    nct_script *script = nct_script_retain(row != NULL ? take_next(row->sequence) : table->fallback);
    pthread_mutex_unlock(&table->mutex);
    return script;
}
