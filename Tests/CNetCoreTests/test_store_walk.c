#include "faulty.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint8_t seal_key[NC_STORE_SEAL_KEY_BYTES] = "a key of 32 bytes for the tests";
static const uint8_t other_key[NC_STORE_SEAL_KEY_BYTES] = "another key";

static nc_store *open_at(const temp_directory *at, const uint8_t *key) {
    nc_store *store = NULL;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = at->store;
    options.seal_key = key;
    assert_status(nc_store_new(&store, &options, NULL), NC_OK);
    return store;
}

static void put(nc_store *store, const char *key, const char *host, nc_slice tags) {
    nc_store_draft draft = {.key = nc_slice_of(key), .host = nc_slice_of(host), .tags = tags};
    assert_status(nc_store_put(store, &draft, nc_slice_of("body"), NULL), NC_OK);
}

/// Stores entries with three hosts and three tags.
static void fill(nc_store *store) {
    put(store, "1", "example.com", nc_slice_make("red\0blue", 8));
    put(store, "2", "EXAMPLE.com", nc_slice_of("blue"));
    put(store, "3", "example.org", nc_slice_of("reddish"));
    put(store, "4", "sub.example.com", nc_slice_make("\0\0red\0", 6));
    put(store, "5", "", nc_slice_of(""));
}

/// Keys seen, as a number: bit n for the key "n".
typedef struct visited {
    unsigned keys;
    int left;
} visited;

static bool visit_entry(void *ctx, const nc_store_entry *entry) {
    visited *all = ctx;
    assert_int_equal(entry->found, NC_STORE_HIT);
    assert_int_equal(entry->body_bytes, 4);
    assert_int_equal(entry->body.length, 0);
    all->keys |= 1u << (entry->key.data[0] - '0');
    return --all->left != 0;
}

static unsigned keys_of(nc_store *store) {
    visited all = {0, -1};
    assert_status(nc_store_list(store, visit_entry, &all, NULL), NC_OK);
    return all.keys;
}

static void list__reports_every_entry_until_it_is_stopped(void **state) {
    (void)state;
    const uint8_t *keys[] = {NULL, seal_key};
    for (size_t i = 0; i < 2; i++) {
        temp_directory at = temp_directory_make();
        nc_store *store = open_at(&at, keys[i]);
        assert_int_equal(keys_of(store), 0);
        fill(store);
        assert_int_equal(keys_of(store), 0x3E);
        nc_store *other = open_at(&at, keys[i]);
        put(other, "6", "", nc_slice_of(""));
        assert_int_equal(keys_of(store), 0x7E);
        nc_store_free(other);
        visited all = {0, 2};
        assert_status(nc_store_list(store, visit_entry, &all, NULL), NC_OK);
        assert_int_equal(__builtin_popcount(all.keys), 2);
        nc_store_free(store);
        temp_directory_remove(&at);
    }
}

static void tags__are_split_and_empty_ones_skipped(void **state) {
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *expected;
    } cases[] = {{"", 0, ""},      {"a", 1, "a,"},    {"a\0b", 3, "a,b,"},   {"\0a", 2, "a,"},
                 {"a\0", 2, "a,"}, {"\0\0\0", 3, ""}, {"a\0\0b", 4, "a,b,"}, {"one\0two\0three", 13, "one,two,three,"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        guarded text = guarded_copy(nc_slice_make(cases[i].text, cases[i].length));
        nc_slice rest = text.slice;
        nc_slice tag;
        nc_buf joined = nc_buf_init(100);
        while (nc_store_next_tag(&tag, &rest)) {
            nc_buf_append(&joined, tag);
            nc_buf_append_byte(&joined, ',');
        }
        assert_slice_equals(nc_buf_slice(&joined), cases[i].expected);
        nc_buf_deinit(&joined);
        guarded_deinit(&text);
    }
}

static void removal__by_tag_matches_only_whole_tags(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(&at, NULL);
    uint64_t removed = 0;
    fill(store);
    assert_status(nc_store_remove_tag(&removed, store, nc_slice_of("green"), NULL), NC_OK);
    assert_int_equal(removed, 0);
    assert_status(nc_store_remove_tag(&removed, store, nc_slice_of("red"), NULL), NC_OK);
    assert_int_equal(removed, 2);
    assert_int_equal(keys_of(store), 1 << 2 | 1 << 3 | 1 << 5);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void removal__by_host_matches_in_any_case(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(&at, seal_key);
    uint64_t removed = 0;
    fill(store);
    assert_status(nc_store_remove_host(&removed, store, nc_slice_of("Example.COM"), NULL), NC_OK);
    assert_int_equal(removed, 2);
    assert_int_equal(keys_of(store), 1 << 3 | 1 << 4 | 1 << 5);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void removal__returns_the_number_of_removed_entries(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(&at, NULL);
    uint64_t removed = 7;
    fill(store);
    assert_status(nc_store_remove(&removed, store, nc_slice_of("9"), NULL), NC_OK);
    assert_int_equal(removed, 0);
    assert_status(nc_store_remove(&removed, store, nc_slice_of("3"), NULL), NC_OK);
    assert_int_equal(removed, 1);
    assert_status(nc_store_remove_all(&removed, store, NULL), NC_OK);
    assert_int_equal(removed, 4);
    assert_int_equal(nc_store_figures(store).entries, 0);
    assert_int_equal(nc_store_figures(store).bytes, 0);
    assert_int_equal(temp_directory_count(at.store), 2);
    nc_store_free(store);
    temp_directory_remove(&at);
}

/* --- sealing --- */

static bool file_holds(const char *path, const char *text) {
    nc_buf file = temp_file_read(path);
    bool is_there = memmem(file.data, file.length, text, strlen(text)) != NULL;
    nc_buf_deinit(&file);
    return is_there;
}

static void seal__leaves_nothing_readable_on_disk(void **state) {
    (void)state;
    static const char *const secrets[] = {"GET https://secret", "secret.example", "tagged", "validators", "the body"};
    nc_store_draft draft = {
        .key = nc_slice_of("GET https://secret"),
        .host = nc_slice_of("secret.example"),
        .tags = nc_slice_of("tagged"),
        .metadata = nc_slice_of("validators"),
    };
    const uint8_t *keys[] = {NULL, seal_key};
    char names[2][512];
    for (size_t i = 0; i < 2; i++) {
        temp_directory at = temp_directory_make();
        nc_store *store = open_at(&at, keys[i]);
        assert_status(nc_store_put(store, &draft, nc_slice_of("the body"), NULL), NC_OK);
        snprintf(names[i], sizeof names[i], "%s", strrchr(temp_directory_entry(at.store), '/'));
        for (size_t k = 0; k < sizeof secrets / sizeof secrets[0]; k++) {
            assert_int_equal(file_holds(temp_directory_entry(at.store), secrets[k]), keys[i] == NULL);
        }
        nc_store_free(store);
        temp_directory_remove(&at);
    }
    assert_string_not_equal(names[0], names[1]); // equal names would be plain digests, which reveal guessable keys
}

static void seal__under_another_key_is_neither_found_nor_removed(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_buf room = nc_buf_init(1 << 20);
    nc_store_entry entry;
    nc_store_report report;
    nc_store *store = open_at(&at, seal_key);
    fill(store);
    nc_store_free(store);
    const uint8_t *keys[] = {NULL, other_key};
    for (size_t i = 0; i < 2; i++) {
        store = open_at(&at, keys[i]);
        assert_status(nc_store_get(&entry, store, nc_slice_of("1"), &room, NULL), NC_OK);
        assert_int_equal(entry.found, NC_STORE_MISS);
        assert_int_equal(keys_of(store), 0);
        assert_status(nc_store_verify(&report, store, NULL), NC_OK);
        assert_int_equal(report.locked, 5);
        assert_int_equal(report.good + report.damaged, 0);
        nc_store_free(store);
    }
    store = open_at(&at, seal_key);
    assert_int_equal(keys_of(store), 0x3E);
    nc_store_free(store);
    nc_buf_deinit(&room);
    temp_directory_remove(&at);
}

static void seal__equal_puts_have_different_ciphertexts(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(&at, seal_key);
    put(store, "1", "h", nc_slice_of(""));
    nc_buf first = temp_file_read(temp_directory_entry(at.store));
    put(store, "1", "h", nc_slice_of(""));
    nc_buf second = temp_file_read(temp_directory_entry(at.store));
    assert_int_equal(first.length, second.length);
    assert_memory_not_equal(first.data + 128, second.data + 128, first.length - 128);
    nc_buf_deinit(&first);
    nc_buf_deinit(&second);
    nc_store_free(store);
    temp_directory_remove(&at);
}

/* --- pieces --- */

static void stream(nc_store *store, nc_slice key, nc_slice body, size_t step) {
    nc_store_writer *writer = NULL;
    nc_store_reader *reader = NULL;
    nc_store_entry entry;
    nc_store_draft draft = {.key = key, .metadata = nc_slice_of("meta"), .host = nc_slice_of("host")};
    assert_status(nc_store_writer_new(&writer, store, &draft, NULL), NC_OK);
    for (size_t at = 0; at < body.length; at += step) {
        size_t length = body.length - at < step ? body.length - at : step;
        assert_status(nc_store_writer_append(writer, nc_slice_make(body.data + at, length), NULL), NC_OK);
    }
    assert_status(nc_store_writer_commit(writer, NULL), NC_OK);
    assert_status(nc_store_writer_commit(writer, NULL), NC_ERR_USAGE);
    assert_status(nc_store_writer_append(writer, key, NULL), NC_ERR_USAGE);
    nc_store_writer_free(writer);
    assert_status(nc_store_reader_new(&reader, &entry, store, key, NULL), NC_OK);
    assert_int_equal(entry.found, NC_STORE_HIT);
    assert_slice_equals(entry.metadata, "meta");
    assert_slice_equals(entry.host, "host");
    assert_int_equal(entry.body_bytes, body.length);
    // An open entry stays readable after it was removed.
    assert_status(nc_store_remove_all(NULL, store, NULL), NC_OK);
    uint8_t *bytes = malloc(step);
    size_t got = 1;
    size_t at = 0;
    while (got != 0) {
        assert_status(nc_store_reader_read(&got, reader, bytes, step, NULL), NC_OK);
        assert_true(at + got <= body.length && (got == step || at + got == body.length));
        assert_true(got == 0 || memcmp(bytes, body.data + at, got) == 0);
        at += got;
    }
    assert_int_equal(at, body.length);
    free(bytes);
    nc_store_reader_free(reader);
}

static void bodies__written_in_pieces_of_any_length_read_back(void **state) {
    (void)state;
    static const size_t lengths[] = {0, 1, 65535, 65536, 65537, 131072, 200000};
    static const size_t steps[] = {1000, 65535, 65536, 65537, 200000};
    uint8_t *bytes = malloc(200000);
    for (size_t i = 0; i < 200000; i++) {
        bytes[i] = (uint8_t)(i * 2654435761u >> 11);
    }
    const uint8_t *keys[] = {NULL, seal_key};
    for (size_t i = 0; i < 2; i++) {
        temp_directory at = temp_directory_make();
        nc_store *store = open_at(&at, keys[i]);
        for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
            for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
                stream(store, nc_slice_of("key"), nc_slice_make(bytes, lengths[k]), steps[s]);
            }
        }
        nc_store_free(store);
        temp_directory_remove(&at);
    }
    free(bytes);
}

static void writer__an_abandoned_writer_leaves_no_file(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(&at, NULL);
    put(store, "k", "", nc_slice_of(""));
    nc_store_writer *writer = NULL;
    nc_store_draft draft = {.key = nc_slice_of("k")};
    assert_status(nc_store_writer_new(&writer, store, &draft, NULL), NC_OK);
    assert_status(nc_store_writer_append(writer, nc_slice_of("new"), NULL), NC_OK);
    assert_int_equal(temp_directory_count_temp_files(at.store), 1);
    nc_store_writer_free(writer);
    assert_int_equal(temp_directory_count_temp_files(at.store), 0);
    nc_store_writer_free(NULL);
    nc_store_entry entry;
    nc_buf room = nc_buf_init(1000);
    assert_status(nc_store_get(&entry, store, draft.key, &room, NULL), NC_OK);
    assert_slice_equals(entry.body, "body");
    nc_buf_deinit(&room);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void writer__fails_as_soon_as_the_body_exceeds_its_share(void **state) {
    (void)state;
    const uint8_t *keys[] = {NULL, seal_key};
    for (size_t i = 0; i < 2; i++) {
        temp_directory at = temp_directory_make();
        nc_store *store = NULL;
        nc_store_options options = NC_STORE_OPTIONS_INIT;
        options.directory = at.store;
        options.max_bytes = 2000000;
        options.seal_key = keys[i];
        assert_status(nc_store_new(&store, &options, NULL), NC_OK);
        nc_store_writer *writer = NULL;
        uint8_t *bytes = calloc(50000, 1);
        nc_error err;
        assert_status(nc_store_writer_new(&writer, store, &(nc_store_draft){.key = nc_slice_of("k")}, NULL), NC_OK);
        assert_status(nc_store_writer_append(writer, nc_slice_make(bytes, 50000), NULL), NC_OK);
        assert_status(nc_store_writer_append(writer, nc_slice_make(bytes, 50000), &err), NC_ERR_TOO_LARGE);
        assert_status(nc_store_writer_append(writer, nc_slice_make(bytes, 1), NULL), NC_ERR_USAGE);
        assert_status(nc_store_writer_commit(writer, NULL), NC_ERR_USAGE);
        nc_store_writer_free(writer);
        free(bytes);
        assert_int_equal(temp_directory_count(at.store), 2);
        nc_store_free(store);
        temp_directory_remove(&at);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(list__reports_every_entry_until_it_is_stopped),
        harness_case(tags__are_split_and_empty_ones_skipped),
        harness_case(removal__by_tag_matches_only_whole_tags),
        harness_case(removal__by_host_matches_in_any_case),
        harness_case(removal__returns_the_number_of_removed_entries),
        harness_case(seal__leaves_nothing_readable_on_disk),
        harness_case(seal__under_another_key_is_neither_found_nor_removed),
        harness_case(seal__equal_puts_have_different_ciphertexts),
        harness_case(bodies__written_in_pieces_of_any_length_read_back),
        harness_case(writer__an_abandoned_writer_leaves_no_file),
        harness_case(writer__fails_as_soon_as_the_body_exceeds_its_share),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
