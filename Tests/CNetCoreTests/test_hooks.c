#include "harness.h"

#include "base/alloc.h"
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* --- memory, time, randomness --- */

static void alloc__uses_the_hook_table(void **state) {
    (void)state;
    uint64_t before = harness_allocations();
    void *block = nc_alloc(0);
    assert_non_null(block);
    block = nc_realloc(block, 100);
    assert_non_null(block);
    uint8_t *zeroed = nc_alloc_zeroed(10, 10);
    for (size_t i = 0; i < 100; i++) {
        assert_int_equal(zeroed[i], 0);
    }
    assert_int_equal(harness_allocations() - before, 3);
    nc_free(block);
    nc_free(zeroed);
    nc_free(NULL);
}

static void alloc__rejects_sizes_that_overflow(void **state) {
    (void)state;
    uint64_t before = harness_allocations();
    assert_null(nc_alloc_zeroed(SIZE_MAX / 2, 3));
    assert_int_equal(harness_allocations(), before);
}

static void alloc__uses_malloc_without_a_hook_table(void **state) {
    (void)state;
    uint64_t before = harness_allocations();
    nc_set_allocator(NULL);
    void *block = nc_realloc(nc_alloc(10), 20);
    assert_non_null(block);
    nc_free(block);
    harness_begin();
    assert_int_equal(harness_allocations(), before);
}

static void clock__returns_both_times(void **state) {
    (void)state;
    nc_clock clock = nc_clock_system();
    uint64_t first = clock.monotonic_ns(clock.ctx);
    uint64_t second = clock.monotonic_ns(clock.ctx);
    assert_true(first != 0 && second >= first);
    // 2020-01-01, in nanoseconds.
    assert_true(clock.realtime_ns(clock.ctx) > INT64_C(1577836800000000000));
}

static void random__fills_every_byte(void **state) {
    (void)state;
    nc_random source = nc_random_system();
    uint8_t seen[1000] = {0};
    for (int round = 0; round < 8; round++) {
        uint8_t bytes[1000] = {0};
        assert_true(source.fill(source.ctx, bytes, sizeof bytes));
        for (size_t i = 0; i < sizeof bytes; i++) {
            seen[i] |= bytes[i];
        }
    }
    // A byte stays 0 in eight draws with a probability of 1 in 2^64.
    assert_null(memchr(seen, 0, sizeof seen));
    assert_true(source.fill(source.ctx, seen, 0));
}

/* --- files --- */

typedef struct hook_files {
    char directory[64];
    char file[96];
    char other[96];
} hook_files;

static hook_files make_hook_files(void) {
    hook_files out;
    snprintf(out.directory, sizeof out.directory, "/tmp/netcore-hooks-XXXXXX");
    assert_non_null(mkdtemp(out.directory));
    snprintf(out.file, sizeof out.file, "%s/file", out.directory);
    snprintf(out.other, sizeof out.other, "%s/other", out.directory);
    return out;
}

static void remove_hook_files(const hook_files *at) {
    (void)unlink(at->file);
    (void)unlink(at->other);
    assert_int_equal(rmdir(at->directory), 0);
}

static void write_file(const char *path, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    for (size_t i = 0; i < length; i++) {
        fputc((int)('a' + i % 26), file);
    }
    assert_int_equal(fclose(file), 0);
}

static size_t open_descriptors(void) {
    DIR *directory = opendir("/proc/self/fd");
    assert_non_null(directory);
    size_t count = 0;
    while (readdir(directory) != NULL) {
        count++;
    }
    closedir(directory);
    return count;
}

static void file_ops__behave_as_documented(void **state) {
    (void)state;
    hook_files at = make_hook_files();
    nc_file_ops ops = nc_file_ops_system();
    int fd = ops.open(ops.ctx, at.file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(ops.write(ops.ctx, fd, "abc", 3), 3);
    assert_int_equal(ops.sync(ops.ctx, fd), 0);
    struct stat info;
    assert_int_equal(ops.status(ops.ctx, fd, &info), 0);
    assert_int_equal(info.st_size, 3);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(ops.set_owner(ops.ctx, fd, info.st_uid, (gid_t)-1), 0);
    assert_int_equal(ops.close(ops.ctx, fd), 0);
    assert_int_equal(ops.rename(ops.ctx, at.file, at.other), 0);
    fd = ops.open(ops.ctx, at.other, O_RDONLY | O_CLOEXEC, 0);
    char bytes[8];
    assert_int_equal(ops.read(ops.ctx, fd, bytes, sizeof bytes), 3);
    assert_int_equal(ops.close(ops.ctx, fd), 0);
    assert_int_equal(ops.unlink(ops.ctx, at.other), 0);
    assert_int_equal(ops.open(ops.ctx, at.other, O_RDONLY | O_CLOEXEC, 0), -1);
    assert_int_equal(errno, ENOENT);
    remove_hook_files(&at);
}

static void file__is_read_completely_at_every_size_around_the_limits(void **state) {
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 4096, 65535, 65536, 65537, 300000};
    hook_files at = make_hook_files();
    nc_file_ops ops = nc_file_ops_system();
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        write_file(at.file, sizes[i]);
        nc_buf out = nc_buf_init(sizes[i] + 1);
        nc_buf_append_byte(&out, '!');
        nc_error err;
        assert_status(nc_file_read_all(&out, &ops, at.file, &err), NC_OK);
        assert_int_equal(out.length, sizes[i] + 1);
        for (size_t k = 0; k < sizes[i]; k++) {
            assert_int_equal(out.data[k + 1], 'a' + k % 26);
        }
        nc_buf_deinit(&out);
    }
    remove_hook_files(&at);
}

static void file__without_a_known_size_is_read_completely(void **state) {
    (void)state;
    nc_file_ops ops = nc_file_ops_system();
    nc_buf out = nc_buf_init(1 << 20);
    assert_status(nc_file_read_all(&out, &ops, "/proc/self/status", NULL), NC_OK);
    assert_true(out.length > 100);
    nc_buf_deinit(&out);
    nc_buf small = nc_buf_init(100);
    assert_status(nc_file_read_all(&small, &ops, "/proc/self/status", NULL), NC_ERR_TOO_LARGE);
    assert_int_equal(small.length, 0);
    nc_buf_deinit(&small);
}

static void file__failures_carry_errno_and_leave_the_buffer_unchanged(void **state) {
    (void)state;
    hook_files at = make_hook_files();
    size_t before = open_descriptors();
    nc_file_ops ops = nc_file_ops_system();
    nc_buf out = nc_buf_init(100);
    nc_buf_append(&out, nc_slice_of("kept"));
    nc_error err;
    assert_status(nc_file_read_all(&out, &ops, at.file, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, ENOENT);
    assert_non_null(strstr(err.message, at.file));
    assert_status(nc_file_read_all(&out, &ops, at.directory, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EISDIR);
    write_file(at.file, 97);
    assert_status(nc_file_read_all(&out, &ops, at.file, &err), NC_ERR_TOO_LARGE);
    assert_slice_equals(nc_buf_slice(&out), "kept");
    nc_buf_deinit(&out);
    assert_int_equal(open_descriptors(), before);
    remove_hook_files(&at);
}

/// First fails with EINTR, then reads one byte at a time. Reading fails permanently after `good_reads` bytes.
typedef struct faulty_file {
    nc_file_ops system;
    int interruptions;
    int good_reads;
} faulty_file;

static bool is_interrupted(faulty_file *file) {
    errno = EINTR;
    return file->interruptions++ % 2 == 0;
}

static int awkward_open(void *ctx, const char *path, int flags, mode_t mode) {
    faulty_file *file = ctx;
    assert_true((flags & O_CLOEXEC) != 0);
    return is_interrupted(file) ? -1 : file->system.open(NULL, path, flags, mode);
}

static ssize_t awkward_read(void *ctx, int fd, void *bytes, size_t length) {
    faulty_file *file = ctx;
    if (is_interrupted(file)) {
        return -1;
    }
    if (file->good_reads-- <= 0) {
        errno = EIO;
        return -1;
    }
    return file->system.read(NULL, fd, bytes, length == 0 ? 0 : 1);
}

static int awkward_status(void *ctx, int fd, struct stat *out) {
    return ((faulty_file *)ctx)->system.status(NULL, fd, out);
}

static int awkward_close(void *ctx, int fd) {
    return ((faulty_file *)ctx)->system.close(NULL, fd);
}

static void file__reading_retries_interruptions_and_always_closes(void **state) {
    (void)state;
    hook_files at = make_hook_files();
    write_file(at.file, 26);
    size_t before = open_descriptors();
    for (int good_reads = 0; good_reads <= 27; good_reads++) {
        faulty_file file = {.system = nc_file_ops_system(), .good_reads = good_reads};
        nc_file_ops ops = file.system;
        ops.ctx = &file;
        ops.open = awkward_open;
        ops.read = awkward_read;
        ops.status = awkward_status;
        ops.close = awkward_close;
        nc_buf out = nc_buf_init(26);
        nc_error err;
        nc_status status = nc_file_read_all(&out, &ops, at.file, &err);
        assert_status(status, good_reads == 27 ? NC_OK : NC_ERR_FILE);
        assert_int_equal(err.native_code, good_reads == 27 ? 0 : EIO);
        assert_slice_equals(nc_buf_slice(&out), good_reads == 27 ? "abcdefghijklmnopqrstuvwxyz" : "");
        nc_buf_deinit(&out);
        assert_int_equal(open_descriptors(), before);
    }
    remove_hook_files(&at);
}

/// A pipe whose writer starts after the reader's first attempt.
typedef struct late_pipe {
    nc_file_ops system;
    int ends[2];
    bool has_written;
} late_pipe;

static ssize_t read_pipe(void *ctx, int fd, void *bytes, size_t length) {
    late_pipe *late = ctx;
    ssize_t got = late->system.read(NULL, fd, bytes, length);
    if (got < 0 && !late->has_written) {
        assert_int_equal(errno, EAGAIN);
        late->has_written = true;
        assert_int_equal(write(late->ends[1], "late", 4), 4);
        assert_int_equal(close(late->ends[1]), 0);
        errno = EAGAIN;
    }
    return got;
}

static void file__a_pipe_is_read_to_its_end(void **state) {
    (void)state;
    late_pipe late = {.system = nc_file_ops_system()};
    nc_file_ops ops = late.system;
    char path[32];
    nc_buf out = nc_buf_init(100);
    ops.ctx = &late;
    ops.read = read_pipe;
    assert_int_equal(pipe(late.ends), 0);
    (void)snprintf(path, sizeof path, "/proc/self/fd/%d", late.ends[0]);
    assert_status(nc_file_read_all(&out, &ops, path, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&out), "late");
    assert_true(late.has_written);
    assert_int_equal(close(late.ends[0]), 0);
    nc_buf_deinit(&out);
}

/// Each byte arrives after an attempt that found nothing.
static ssize_t read_slowly(void *ctx, int fd, void *bytes, size_t length) {
    int *calls = ctx;
    (void)fd;
    (void)length;
    if (++*calls % 2 == 1) {
        errno = EAGAIN;
        return -1;
    }
    *(char *)bytes = 'x';
    return *calls <= 1000 ? 1 : 0;
}

static void file__a_pipe_of_many_small_pieces_is_read_to_its_end(void **state) {
    (void)state;
    hook_files at = make_hook_files();
    nc_file_ops ops = nc_file_ops_system();
    nc_buf out = nc_buf_init(1000);
    int calls = 0;
    write_file(at.file, 10);
    ops.ctx = &calls;
    ops.read = read_slowly;
    assert_status(nc_file_read_all(&out, &ops, at.file, NULL), NC_OK);
    assert_int_equal(out.length, 500);
    nc_buf_deinit(&out);
    remove_hook_files(&at);
}

static ssize_t read_later(void *ctx, int fd, void *bytes, size_t length) {
    (void)fd;
    (void)bytes;
    (void)length;
    ++*(int *)ctx;
    errno = EAGAIN;
    return -1;
}

static void file__reading_a_silent_pipe_times_out(void **state) {
    (void)state;
    hook_files at = make_hook_files();
    nc_file_ops ops = nc_file_ops_system();
    nc_buf out = nc_buf_init(100);
    nc_error err;
    write_file(at.file, 10);
    int read_count = 0;
    ops.ctx = &read_count;
    ops.read = read_later; // the file is always readable, so poll() returns immediately
    assert_status(nc_file_read_all(&out, &ops, at.file, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EAGAIN);
    assert_true(read_count > 1);
    // A FIFO without a writer.
    assert_int_equal(unlink(at.file), 0);
    assert_int_equal(mkfifo(at.file, 0600), 0);
    ops = nc_file_ops_system();
    assert_status(nc_file_read_all(&out, &ops, at.file, &err), NC_OK);
    assert_int_equal(out.length, 0);
    nc_buf_deinit(&out);
    remove_hook_files(&at);
}

static void read_a_file(void *ctx) {
    const hook_files *at = ctx;
    nc_file_ops ops = nc_file_ops_system();
    nc_buf out = nc_buf_init(1 << 20);
    nc_status first = nc_file_read_all(&out, &ops, at->file, NULL);
    nc_status second = nc_file_read_all(&out, &ops, "/proc/self/status", NULL);
    bool is_out = harness_has_failed_allocation();
    assert_status(second, is_out ? NC_ERR_NO_MEMORY : NC_OK);
    assert_true(is_out || first == NC_OK);
    nc_buf_deinit(&out);
}

static void file__reading_survives_each_allocation_failure(void **state) {
    (void)state;
    hook_files at = make_hook_files();
    write_file(at.file, 1000);
    assert_true(each_allocation_failure(read_a_file, &at) >= 2);
    remove_hook_files(&at);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(alloc__uses_the_hook_table),
        harness_case(alloc__rejects_sizes_that_overflow),
        harness_case(alloc__uses_malloc_without_a_hook_table),
        harness_case(clock__returns_both_times),
        harness_case(random__fills_every_byte),
        harness_case(file_ops__behave_as_documented),
        harness_case(file__is_read_completely_at_every_size_around_the_limits),
        harness_case(file__without_a_known_size_is_read_completely),
        harness_case(file__failures_carry_errno_and_leave_the_buffer_unchanged),
        harness_case(file__reading_retries_interruptions_and_always_closes),
        harness_case(file__a_pipe_is_read_to_its_end),
        harness_case(file__a_pipe_of_many_small_pieces_is_read_to_its_end),
        harness_case(file__reading_a_silent_pipe_times_out),
        harness_case(file__reading_survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
