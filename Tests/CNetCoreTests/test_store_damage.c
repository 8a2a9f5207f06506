#include "faulty.h"
#include "torture.h"

#include "store/checksum.h"
#include "store/format.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/// One entry in a store, and its file's bytes.
typedef struct damaged_store {
    temp_directory at;
    nc_store *store;
    nc_buf room;
    nc_buf file;
    char path[512];
    nc_slice body;
} damaged_store;

static const uint8_t seal_key[NC_STORE_SEAL_KEY_BYTES] = "a key of 32 bytes for the tests";

static const nc_store_draft draft = {
    .key = {(const uint8_t *)"GET https://example.com/", 24},
    .metadata = {(const uint8_t *)"status=200", 10},
    .host = {(const uint8_t *)"example.com", 11},
    .tags = {(const uint8_t *)"one\0two", 7},
};

static void begin(damaged_store *on, bool is_sealed, nc_slice body) {
    *on = (damaged_store){.at = temp_directory_make(), .room = nc_buf_init(1 << 24), .body = body};
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = on->at.store;
    options.seal_key = is_sealed ? seal_key : NULL;
    assert_status(nc_store_new(&on->store, &options, NULL), NC_OK);
    assert_status(nc_store_put(on->store, &draft, body, NULL), NC_OK);
    snprintf(on->path, sizeof on->path, "%s", temp_directory_entry(on->at.store));
    on->file = temp_file_read(on->path);
}

static void end(damaged_store *on) {
    nc_store_free(on->store);
    nc_buf_deinit(&on->room);
    nc_buf_deinit(&on->file);
    temp_directory_remove(&on->at);
}

/// Looks up an entry whose file has these bytes. Fails unless the result is a miss or the entry that was put.
static nc_store_found found_with(damaged_store *on, nc_slice bytes) {
    nc_store_entry entry;
    temp_file_write(on->path, bytes);
    assert_status(nc_store_get(&entry, on->store, draft.key, &on->room, NULL), NC_OK);
    if (entry.found == NC_STORE_HIT) {
        assert_true(nc_slice_is_equal(entry.body, on->body));
        assert_true(nc_slice_is_equal(entry.metadata, draft.metadata));
        assert_true(nc_slice_is_equal(entry.tags, draft.tags));
        assert_true(nc_slice_is_equal(entry.host, draft.host));
    } else {
        assert_int_equal(access(on->path, F_OK), -1);
    }
    return entry.found;
}

/* --- the check --- */

static uint32_t crc32c_bit_by_bit(uint32_t crc, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
        }
    }
    return crc;
}

static void checksum__is_crc32c_with_every_implementation(void **state) {
    (void)state;
    uint64_t seed = 42;
    uint8_t bytes[32 * 50];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)torture_next(&seed);
    }
    // RFC 3720, B.4: thirty-two bytes of zeros have the CRC 0x8A9136AA.
    assert_int_equal(crc32c_bit_by_bit(0xFFFFFFFFu, (const uint8_t[32]){0}, 32) ^ 0xFFFFFFFFu, 0x8A9136AAu);
    for (size_t blocks = 0; blocks <= 50; blocks++) {
        uint32_t slow[4] = {1, 2, 3, 0xFFFFFFFFu};
        uint32_t portable[4] = {1, 2, 3, 0xFFFFFFFFu};
        uint32_t native[4] = {1, 2, 3, 0xFFFFFFFFu};
        for (size_t i = 0; i < blocks * 4; i++) {
            slow[i % 4] = crc32c_bit_by_bit(slow[i % 4], bytes + i * 8, 8);
        }
        nc_checksum_blocks_portable(portable, bytes, blocks);
        assert_memory_equal(portable, slow, sizeof slow);
        if (nc_checksum_blocks_native() != NULL) {
            nc_checksum_blocks_native()(native, bytes, blocks);
            assert_memory_equal(native, slow, sizeof slow);
        }
    }
}

typedef struct expected_checksum {
    uint8_t expected[NC_CHECKSUM_BYTES];
} expected_checksum;

static void check_split(void *ctx, nc_slice head, nc_slice tail) {
    uint8_t out[NC_CHECKSUM_BYTES];
    nc_checksum sum = nc_checksum_init();
    nc_checksum_update(&sum, head);
    nc_checksum_update(&sum, tail);
    nc_checksum_finish(out, &sum);
    assert_memory_equal(out, ((expected_checksum *)ctx)->expected, sizeof out);
}

static void checksum__every_split_gives_the_same_checksum(void **state) {
    (void)state;
    uint8_t bytes[101];
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] = (uint8_t)(i * 37);
    }
    for (size_t length = 0; length <= sizeof bytes; length++) {
        expected_checksum expected;
        nc_checksum sum = nc_checksum_init();
        for (size_t i = 0; i < length; i++) {
            nc_checksum_update(&sum, nc_slice_make(bytes + i, 1));
        }
        nc_checksum_finish(expected.expected, &sum);
        each_split(nc_slice_make(bytes, length), check_split, &expected);
    }
}

static void checksum__trailing_zeros_change_it(void **state) {
    (void)state;
    static const uint8_t zeros[70];
    uint8_t seen[70][NC_CHECKSUM_BYTES];
    for (size_t length = 0; length < 70; length++) {
        nc_checksum sum = nc_checksum_init();
        nc_checksum_update(&sum, nc_slice_make(zeros, length));
        nc_checksum_finish(seen[length], &sum);
        for (size_t i = 0; i < length; i++) {
            assert_memory_not_equal(seen[i], seen[length], NC_CHECKSUM_BYTES);
        }
    }
}

/* --- files --- */

static void assert_every_flip_is_a_miss(bool is_sealed, nc_slice body, size_t step) {
    damaged_store on;
    begin(&on, is_sealed, body);
    for (size_t bit = 0; bit < on.file.length * 8; bit += step) {
        on.file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(found_with(&on, nc_buf_slice(&on.file)), NC_STORE_DAMAGED);
        on.file.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    assert_int_equal(found_with(&on, nc_buf_slice(&on.file)), NC_STORE_HIT);
    end(&on);
}

static void entry__with_any_bit_flipped_is_a_miss(void **state) {
    (void)state;
    assert_every_flip_is_a_miss(false, nc_slice_of("a body that matters"), 1);
    assert_every_flip_is_a_miss(true, nc_slice_of("a body that matters"), 1);
    assert_every_flip_is_a_miss(false, nc_slice_of(""), 1);
}

static void entry__of_several_pieces_with_flipped_bits_is_a_miss(void **state) {
    (void)state;
    uint8_t *bytes = calloc(150000, 1);
    uint64_t step = torture_number("NETCORE_TORTURE_FLIPS", 0);
    step = step == 0 ? 7919 : 150000 * 8 / step + 1;
    assert_every_flip_is_a_miss(false, nc_slice_make(bytes, 150000), step);
    assert_every_flip_is_a_miss(true, nc_slice_make(bytes, 150000), step);
    free(bytes);
}

static void entry__of_any_other_length_is_a_miss(void **state) {
    (void)state;
    for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
        damaged_store on;
        begin(&on, is_sealed != 0, nc_slice_of("a body"));
        for (size_t length = 0; length < on.file.length; length++) {
            assert_int_equal(found_with(&on, nc_slice_make(on.file.data, length)), NC_STORE_DAMAGED);
        }
        size_t length = on.file.length;
        for (int more = 0; more < 300; more++) {
            nc_buf_append_byte(&on.file, 0);
            assert_int_equal(found_with(&on, nc_buf_slice(&on.file)), NC_STORE_DAMAGED);
        }
        assert_int_equal(found_with(&on, nc_slice_make(on.file.data, length)), NC_STORE_HIT);
        end(&on);
    }
}

static void entry__renamed_is_not_found(void **state) {
    (void)state;
    damaged_store on;
    begin(&on, false, nc_slice_of("a body"));
    nc_store_entry entry;
    nc_store_draft other = draft;
    other.key = nc_slice_of("GET https://example.com/other");
    assert_status(nc_store_put(on.store, &other, nc_slice_of("other"), NULL), NC_OK);
    // Writes the first entry's bytes to the second entry's file.
    assert_status(nc_store_remove(NULL, on.store, draft.key, NULL), NC_OK);
    char path[512];
    snprintf(path, sizeof path, "%s", temp_directory_entry(on.at.store));
    temp_file_write(path, nc_buf_slice(&on.file));
    assert_status(nc_store_get(&entry, on.store, other.key, &on.room, NULL), NC_OK);
    assert_int_equal(entry.found, NC_STORE_MISS);
    assert_int_equal(entry.body.length, 0);
    end(&on);
}

static void entry__with_absurd_declared_lengths_is_a_miss(void **state) {
    (void)state;
    damaged_store on;
    begin(&on, false, nc_slice_of("a body"));
    // Sets the lengths of key, host, tags, metadata and body to the maximum, with valid checksums.
    static const struct {
        size_t at;
        size_t bytes;
    } fields[] = {{16, 4}, {20, 4}, {24, 4}, {28, 4}, {32, 8}};
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        for (int high = 0; high < 8; high++) {
            nc_buf file = nc_buf_init(1 << 20);
            nc_buf_append(&file, nc_buf_slice(&on.file));
            memset(file.data + fields[i].at, high == 0 ? 0x00 : 0xFF >> high, fields[i].bytes);
            nc_slice texts = nc_slice_make(file.data + NC_ENTRY_HEADER_BYTES, 52);
            nc_entry_head_write_checksum(file.data, texts);
            nc_store_found found = found_with(&on, nc_buf_slice(&file));
            assert_true(found == NC_STORE_DAMAGED || found == NC_STORE_MISS);
            nc_buf_deinit(&file);
        }
    }
    end(&on);
}

static void verify__counts_and_removes_damaged_entries(void **state) {
    (void)state;
    damaged_store on;
    begin(&on, false, nc_slice_of("a body"));
    nc_store_report report;
    for (int i = 0; i < 5; i++) {
        char key[32];
        snprintf(key, sizeof key, "key %d", i);
        nc_store_draft one = {.key = nc_slice_of(key)};
        assert_status(nc_store_put(on.store, &one, nc_slice_of("v"), NULL), NC_OK);
    }
    assert_status(nc_store_verify(&report, on.store, NULL), NC_OK);
    assert_int_equal(report.good, 6);
    assert_int_equal(report.bytes, nc_store_figures(on.store).bytes);
    assert_int_equal(report.damaged + report.expired + report.locked + report.leftovers + report.foreign, 0);
    on.file.data[on.file.length - 1] ^= 1; // in the body, which a list does not read
    temp_file_write(on.path, nc_buf_slice(&on.file));
    temp_file_write(temp_directory_path(on.at.store, "00112233445566778899aabbccddeeff.0"), nc_slice_of("too short"));
    assert_status(nc_store_verify(&report, on.store, NULL), NC_OK);
    assert_int_equal(report.good, 5);
    assert_int_equal(report.damaged, 2);
    assert_status(nc_store_verify(&report, on.store, NULL), NC_OK);
    assert_int_equal(report.damaged, 0);
    assert_int_equal(temp_directory_count(on.at.store), 5 + 2);
    end(&on);
}

static void reader__does_not_open_a_damaged_body(void **state) {
    (void)state;
    for (int is_sealed = 0; is_sealed < 2; is_sealed++) {
        damaged_store on;
        uint8_t *bytes = calloc(200000, 1);
        begin(&on, is_sealed != 0, nc_slice_make(bytes, 200000));
        on.file.data[on.file.length - 1] ^= 0x80;
        temp_file_write(on.path, nc_buf_slice(&on.file));
        nc_store_reader *reader = NULL;
        nc_store_entry entry;
        assert_status(nc_store_reader_new(&reader, &entry, on.store, draft.key, NULL), NC_OK);
        assert_null(reader);
        assert_int_equal(entry.found, NC_STORE_DAMAGED);
        assert_int_equal(access(on.path, F_OK), -1);
        free(bytes);
        end(&on);
    }
}

static void reader__detects_a_file_that_changes_while_it_is_read(void **state) {
    (void)state;
    damaged_store on;
    uint8_t *bytes = calloc(200000, 1);
    begin(&on, true, nc_slice_make(bytes, 200000));
    nc_store_reader *reader = NULL;
    nc_store_entry entry;
    size_t got = 0;
    assert_status(nc_store_reader_new(&reader, &entry, on.store, draft.key, NULL), NC_OK);
    assert_status(nc_store_reader_read(&got, reader, bytes, 100, NULL), NC_OK);
    on.file.data[150000] ^= 1;
    int fd = open(on.path, O_WRONLY | O_CLOEXEC); // the same file, because the library never modifies one
    assert_int_equal(pwrite(fd, on.file.data, on.file.length, 0), (ssize_t)on.file.length);
    assert_int_equal(ftruncate(fd, 190000), 0);
    close(fd);
    nc_status status = NC_OK;
    while (status == NC_OK && got != 0) {
        status = nc_store_reader_read(&got, reader, bytes, 10000, NULL);
    }
    assert_status(status, NC_ERR_FILE);
    nc_store_reader_free(reader);
    free(bytes);
    end(&on);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(checksum__is_crc32c_with_every_implementation),
        harness_case(checksum__every_split_gives_the_same_checksum),
        harness_case(checksum__trailing_zeros_change_it),
        harness_case(entry__with_any_bit_flipped_is_a_miss),
        harness_case(entry__of_several_pieces_with_flipped_bits_is_a_miss),
        harness_case(entry__of_any_other_length_is_a_miss),
        harness_case(entry__renamed_is_not_found),
        harness_case(entry__with_absurd_declared_lengths_is_a_miss),
        harness_case(verify__counts_and_removes_damaged_entries),
        harness_case(reader__does_not_open_a_damaged_body),
        harness_case(reader__detects_a_file_that_changes_while_it_is_read),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
