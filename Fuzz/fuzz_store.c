/// Files of a store from untrusted sources. For any contents of an entry's file, the result is a miss or a complete
/// entry with valid checksums.
/// Covers: store/format.c store/load.c store/checksum.c
#include "input.h"

#include "digest/seal.h"
#include "store/format.h"
#include "store/internal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t seal_key[NC_STORE_SEAL_KEY_BYTES] = "a key of 32 bytes for fuzzing";
static char directory[64];
static nc_store *stores[2]; // plain and sealed
static size_t blocks_at_start;
static const nc_store_draft drafts[2] = {
    {.key = {(const uint8_t *)"key", 3},
     .metadata = {(const uint8_t *)"meta", 4},
     .tags = {(const uint8_t *)"a\0b", 3}},
    {.key = {(const uint8_t *)"key", 3}, .host = {(const uint8_t *)"host", 4}, .lifetime_ms = 1000000000000},
};

/* --- file operations on one file in memory --- */

static nc_slice content;
static size_t position;

/// The failure that the input selects: the n-th call of the kind fails with this errno.
static struct {
    enum { NO_FAULT, OPEN_FAILS, READ_FAILS, STATUS_FAILS, ROOM_IS_SMALL, FAULTS } kind;
    unsigned calls;
    int code;
    uint8_t amount;
} fault;

static bool must_fail(int kind) {
    if ((int)fault.kind != kind || fault.calls-- != 0) {
        return false;
    }
    errno = fault.code;
    return true;
}

static void read_fault(input *in) {
    static const int codes[] = {EIO, ELOOP, ENOENT, EISDIR, EMFILE, EACCES, EINTR, ENXIO};
    uint8_t kind = input_byte(in);
    fault.amount = input_byte(in);
    fault.kind = kind % FAULTS;
    fault.calls = fault.amount >> 3;
    fault.code = codes[fault.amount & 7];
}

static int memory_open_at(void *ctx, int directory_fd, const char *name, int flags, mode_t mode) {
    (void)ctx;
    (void)directory_fd;
    (void)name;
    (void)flags;
    (void)mode;
    position = 0;
    return must_fail(OPEN_FAILS) ? -1 : 1000;
}

/// Reads, also fewer bytes than requested. The first read never ends where an entry could end.
static ssize_t memory_read(void *ctx, int fd, void *bytes, size_t length) {
    (void)ctx;
    (void)fd;
    if (must_fail(READ_FAILS)) {
        return -1;
    }
    size_t left = content.length - position;
    size_t taken = length < left ? length : left;
    if (taken > 100 && content.length % 3 == 0) {
        taken = position == 0 ? 100 : taken / 2;
    }
    if (taken != 0) {
        memcpy(bytes, content.data + position, taken);
    }
    position += taken;
    return (ssize_t)taken;
}

static ssize_t memory_read_at(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    (void)ctx;
    (void)fd;
    if (must_fail(READ_FAILS)) {
        return -1;
    }
    size_t at = (uint64_t)offset < content.length ? (size_t)offset : content.length;
    size_t left = content.length - at;
    size_t taken = length < left ? length : left;
    if (taken != 0) {
        memcpy(bytes, content.data + at, taken);
    }
    return (ssize_t)taken;
}

static int memory_status(void *ctx, int fd, struct stat *out) {
    (void)ctx;
    (void)fd;
    if (must_fail(STATUS_FAILS)) {
        return -1;
    }
    memset(out, 0, sizeof *out);
    out->st_mode = S_IFREG | 0600;
    out->st_size = (off_t)content.length;
    return 0;
}

static int memory_status_at(void *ctx, int directory_fd, const char *name, struct stat *out) {
    (void)directory_fd;
    (void)name;
    return memory_status(ctx, 0, out);
}

static int memory_nothing(void *ctx, int fd) {
    (void)ctx;
    (void)fd;
    return 0;
}

static int memory_set_time(void *ctx, int fd, int64_t realtime_ns) {
    (void)realtime_ns;
    return memory_nothing(ctx, fd);
}

static int memory_unlink_at(void *ctx, int directory_fd, const char *name, bool is_directory) {
    (void)name;
    (void)is_directory;
    return memory_nothing(ctx, directory_fd);
}

static void use_memory(nc_store *store) {
    store->files.open_at = memory_open_at;
    store->files.read = memory_read;
    store->files.read_at = memory_read_at;
    store->files.status = memory_status;
    store->files.status_at = memory_status_at;
    store->files.close = memory_nothing;
    store->files.set_time = memory_set_time;
    store->files.unlink_at = memory_unlink_at;
}

/* --- checks --- */

static void check_entry(const nc_store_entry *entry, nc_slice key) {
    CHECK(entry->found == NC_STORE_HIT);
    CHECK(nc_slice_is_equal(entry->key, key));
    CHECK(entry->file_bytes == content.length);
    CHECK(entry->body_bytes < content.length);
    nc_slice rest = entry->tags;
    nc_slice tag;
    while (nc_store_next_tag(&tag, &rest)) {
        CHECK(tag.length != 0 && memchr(tag.data, 0, tag.length) == NULL);
    }
}

static void check_status(nc_status status, const nc_error *err) {
    check_error(err, status, 0);
    bool is_defined = status == NC_OK || (status == NC_ERR_TOO_LARGE && fault.kind == ROOM_IS_SMALL) ||
                      ((status == NC_ERR_FILE || status == NC_ERR_DESCRIPTORS) && fault.kind != NO_FAULT);
    CHECK(is_defined);
}

/// Checks that the pieces of a reader equal the whole entry if that was found.
static void check_reader(nc_store *store, const nc_store_entry *whole) {
    nc_store_reader *reader = NULL;
    nc_store_entry entry = {.found = NC_STORE_MISS};
    nc_error err;
    uint8_t bytes[1000];
    size_t got = 1;
    size_t at = 0;
    nc_status status = nc_store_reader_new(&reader, &entry, store, drafts[0].key, &err);
    check_status(status, &err);
    CHECK((reader != NULL) == (status == NC_OK && entry.found == NC_STORE_HIT));
    CHECK(fault.kind != NO_FAULT || entry.found == whole->found);
    while (reader != NULL && got != 0 && status == NC_OK) {
        status = nc_store_reader_read(&got, reader, bytes, sizeof bytes, &err);
        check_status(status, &err);
        if (status == NC_OK && whole->found == NC_STORE_HIT) {
            CHECK(got <= whole->body.length - at && (got == 0 || memcmp(bytes, whole->body.data + at, got) == 0));
            at += got;
        }
    }
    CHECK(status != NC_OK || whole->found != NC_STORE_HIT || reader == NULL || at == whole->body.length);
    nc_store_reader_free(reader);
}

static void look_up(nc_store *store) {
    nc_buf room = nc_buf_init(fault.kind == ROOM_IS_SMALL ? (size_t)fault.amount * 4 : 1 << 22);
    nc_store_entry entry = {.found = NC_STORE_MISS};
    nc_error err;
    nc_status status = nc_store_get(&entry, store, drafts[0].key, &room, &err);
    check_status(status, &err);
    if (status == NC_OK && entry.found == NC_STORE_HIT) {
        check_entry(&entry, drafts[0].key);
    } else {
        CHECK(entry.body.length == 0 && entry.key.length == 0);
    }
    if (fault.kind != ROOM_IS_SMALL) {
        check_reader(store, &entry);
    }
    nc_buf_deinit(&room);
}

/// A header decodes to its inputs, and both checksum implementations agree.
static void check_head(nc_slice key, nc_slice host) {
    nc_entry_head head;
    nc_entry_head again;
    uint8_t header[NC_ENTRY_HEADER_BYTES];
    nc_store_draft draft = {.key = key, .host = host, .tags = host, .metadata = key, .lifetime_ms = host.length};
    nc_status status = nc_entry_head_init(&head, &draft, (int64_t)key.length - 100, NULL);
    CHECK(status == (key.length == 0 ? NC_ERR_USAGE : NC_OK));
    if (status == NC_OK) {
        nc_entry_head_write(header, &head);
        nc_entry_head_write_checksum(header, host);
        CHECK(nc_entry_head_read(&again, header) && memcmp(&head, &again, sizeof head) == 0);
        // A text that differs from the host: the key, or if the two are equal, an empty one.
        nc_slice other = nc_slice_is_equal(key, host) ? nc_slice_of("") : key;
        CHECK(nc_entry_head_is_whole(header, host) && !nc_entry_head_is_whole(header, other));
    }
    if (nc_checksum_blocks_native() != NULL) {
        uint32_t native[NC_CHECKSUM_SUMS] = {1, 2, 3, 4};
        uint32_t portable[NC_CHECKSUM_SUMS] = {1, 2, 3, 4};
        nc_checksum_blocks_native()(native, key.data, key.length / NC_CHECKSUM_BLOCK_BYTES);
        nc_checksum_blocks_portable(portable, key.data, key.length / NC_CHECKSUM_BLOCK_BYTES);
        CHECK(memcmp(native, portable, sizeof native) == 0);
    }
}

/// Changes some bytes of a written entry and corrects its checksums, so that only the seal can detect it.
static void look_up_changed(nc_store *store, input *in) {
    nc_buf file = nc_buf_init(1 << 20);
    uint8_t kind = input_byte(in);
    read_fault(in);
    nc_buf_append(&file, input_rest(in));
    if (file.length >= NC_ENTRY_HEADER_BYTES) {
        nc_entry_head head;
        uint8_t canonical[NC_ENTRY_CHECKED_BYTES];
        if (nc_entry_head_read(&head, file.data)) {
            nc_entry_head_write(canonical, &head);
            CHECK(memcmp(canonical, file.data, sizeof canonical) == 0);
            size_t front = nc_entry_front_bytes(&head);
            if ((kind & 1) != 0 && front <= file.length) {
                nc_checksum sum = nc_checksum_init();
                nc_checksum_update(&sum, nc_slice_make(file.data + front, file.length - front));
                nc_checksum_finish(head.body_check, &sum);
                nc_entry_head_write(file.data, &head);
                nc_entry_head_write_checksum(
                    file.data, nc_slice_make(file.data + NC_ENTRY_HEADER_BYTES, front - NC_ENTRY_HEADER_BYTES));
            }
        }
    }
    content = nc_buf_slice(&file);
    look_up(store);
    nc_buf_deinit(&file);
    content = nc_slice_make(NULL, 0);
}

/// Writes entries as the first seeds of the corpus.
static void write_seeds(const char *corpus) {
    for (size_t i = 0; i < 4; i++) {
        static const uint8_t body[300];
        nc_store *store = stores[i / 2];
        const nc_store_draft *draft = &drafts[i % 2];
        CHECK(nc_store_put(store, draft, nc_slice_make(body, i % 2 == 0 ? 5 : 300), NULL) == NC_OK);
        nc_store_candidates candidates;
        char name[NC_ENTRY_NAME_BYTES];
        char path[512];
        CHECK(nc_store_locate(&candidates, store, draft->key, NULL) == NC_OK);
        nc_entry_name_format(name, &candidates.name);
        snprintf(path, sizeof path, "%s/%s", directory, name);
        FILE *from = fopen(path, "rb");
        snprintf(path, sizeof path, "%s/entry-%zu", corpus, i);
        FILE *to = fopen(path, "wb");
        CHECK(from != NULL && to != NULL);
        fputc((int)(i / 2) << 1 | 1, to);
        fputc(NO_FAULT, to);
        fputc(0, to);
        for (int c = fgetc(from); c != EOF; c = fgetc(from)) {
            fputc(c, to);
        }
        fclose(from);
        fclose(to);
    }
}

static void clean_up(void) {
    for (size_t i = 0; i < 2; i++) {
        stores[i]->files = nc_file_ops_system();
        (void)nc_store_remove_all(NULL, stores[i], NULL);
        nc_store_free(stores[i]);
    }
    char path[128];
    static const char *const names[] = {"lock", "CACHEDIR.TAG"};
    for (size_t i = 0; i < 2; i++) {
        snprintf(path, sizeof path, "%s/%s", directory, names[i]);
        (void)unlink(path);
    }
    (void)rmdir(directory);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    snprintf(directory, sizeof directory, "/tmp/netkit-fuzz-XXXXXX");
    CHECK(mkdtemp(directory) != NULL);
    options.directory = directory;
    for (size_t i = 0; i < 2; i++) {
        options.seal_key = i == 0 ? NULL : seal_key;
        CHECK(nc_store_new(&stores[i], &options, NULL) == NC_OK);
    }
    if (getenv("NETCORE_FUZZ_SEEDS") != NULL) {
        write_seeds(getenv("NETCORE_FUZZ_SEEDS"));
    }
    for (size_t i = 0; i < 2; i++) {
        use_memory(stores[i]);
    }
    CHECK(atexit(clean_up) == 0);
    blocks_at_start = memory_live_blocks();
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint8_t which = size == 0 ? 0 : data[0] >> 1 & 1;
    look_up_changed(stores[which], &in);
    input_deinit(&in);
    in = input_init(data, size);
    nc_slice key = input_piece(&in);
    check_head(key, input_rest(&in));
    input_deinit(&in);
    CHECK(memory_live_blocks() <= blocks_at_start + 4); // Two tables of each store.
    return 0;
}
