/// The files of a form: measured before the first byte, read directly into the caller's memory, and checked for
/// changes.
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 128

static char folder[] = "/tmp/netcore-parts.XXXXXX";

static const char *path_of(char *path, const char *name) {
    (void)snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

static nc_slice file_of(char *path, const char *name, const char *text) {
    FILE *file = fopen(path_of(path, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    return nc_slice_of(path);
}

/* --- files --- */

static void multipart__a_file_is_read_repeatedly_in_pieces_of_any_size(void **state) {
    char path[PATH_BYTES];
    (void)state;
    nc_multipart *form = parts_form(NULL);
    nc_slice file = file_of(path, "a\"b.txt", "from a file");
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), file, NULL), NC_OK);
    nc_multipart_reader *reader = parts_reader(form);
    static const char expected[] =
        "--B\r\n" PARTS_FRAME("; filename=\"a%22b.txt\"\r\nContent-Type: text/plain") "from a file\r\n--B--\r\n";
    assert_int_equal(nc_multipart_reader_length(reader), sizeof expected - 1);
    for (size_t piece_bytes = 1; piece_bytes < sizeof expected + 1; piece_bytes++) {
        parts_expect(reader, expected, piece_bytes);
        assert_true(nc_multipart_rewind(reader, 0));
    }
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void multipart__a_file_may_be_a_field_and_have_another_name(void **state) {
    char path[PATH_BYTES];
    (void)state;
    nc_multipart *form = parts_form(NULL);
    nc_slice file = file_of(path, "a.txt", "");
    const nc_part field = {.name = nc_slice_of("f"), .path = file, .is_field = true};
    const nc_part named = {.name = nc_slice_of("f"), .path = file, .file_name = nc_slice_of("x.gif")};
    assert_status(nc_multipart_add(form, &field, NULL), NC_OK);
    assert_status(nc_multipart_add(form, &named, NULL), NC_OK);
    nc_multipart_reader *reader = parts_reader(form);
    parts_expect(reader,
                 "--B\r\n" PARTS_FRAME("") "\r\n--B\r\n" PARTS_FRAME(
                     "; filename=\"x.gif\"\r\nContent-Type: image/gif") "\r\n--B--\r\n",
                 64);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void multipart__an_unreadable_file_is_rejected_immediately(void **state) {
    char path[PATH_BYTES];
    nc_error err;
    (void)state;
    nc_multipart *form = parts_form(NULL);
    path_of(path, "not-there");
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), nc_slice_of(path), &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, ENOENT);
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), nc_slice_of(folder), &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EISDIR);
    path_of(path, "fifo");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), nc_slice_of(path), &err), NC_ERR_FILE);
    assert_non_null(strstr(err.message, "/fifo' is not a regular file"));
    assert_int_equal(nc_multipart_count(form), 0);
    unlink(path);
    nc_multipart_release(form);
}

static void multipart__a_missing_file_is_reported_before_the_first_byte(void **state) {
    char path[PATH_BYTES];
    nc_multipart_reader *reader = NULL;
    nc_error err;
    (void)state;
    nc_multipart *form = parts_form(NULL);
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), file_of(path, "gone", "x"), NULL), NC_OK);
    unlink(path);
    assert_status(nc_multipart_reader_new(&reader, form, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, ENOENT);
    assert_null(reader);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_status(nc_multipart_reader_new(&reader, form, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EISDIR);
    rmdir(path);
    nc_multipart_release(form);
}

static void multipart__a_file_that_changes_its_length_is_an_error(void **state) {
    static const struct {
        const char *then;
        bool has_begun;
        const char *expected_message;
    } rows[] = {
        {"ten bytes and more", false, "longer"},
        {"ten bytes and more", true, "longer"},
        {"few", false, "shorter"},
        {"", true, "shorter"},
    };
    char path[PATH_BYTES];
    uint8_t piece[256];
    size_t filled;
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_multipart *form = parts_form(NULL);
        assert_status(nc_multipart_add_file(form, nc_slice_of("f"), file_of(path, "grows.txt", "ten bytes."), NULL),
                      NC_OK);
        nc_multipart_reader *reader = parts_reader(form);
        size_t first_bytes = nc_multipart_reader_length(reader) - strlen("ten bytes.\r\n--B--\r\n") + 3;
        if (rows[i].has_begun) {
            assert_int_equal(nc_multipart_read(reader, 0, piece, first_bytes, &filled), NC_PULL_MORE);
        }
        (void)file_of(path, "grows.txt", rows[i].then);
        parts_expect_failure(reader, NC_ERR_BODY_LENGTH, rows[i].expected_message);
        nc_multipart_reader_free(reader);
        nc_multipart_release(form);
    }
}

/// File operations with one failure.
typedef struct faulty {
    nc_file_ops real;
    int read_code;
    int status_code;
    bool interrupts; // once each
    int interruptions;
} faulty;

static bool is_interrupted(faulty *files) {
    bool is_now = files->interrupts && files->interruptions++ % 2 == 0;
    errno = is_now ? EINTR : errno;
    return is_now;
}

static int faulty_open(void *ctx, const char *path, int flags, mode_t mode) {
    faulty *files = ctx;
    return is_interrupted(files) ? -1 : files->real.open(files->real.ctx, path, flags, mode);
}

static ssize_t faulty_read_at(void *ctx, int fd, void *bytes, size_t length, off_t offset) {
    faulty *files = ctx;
    if (files->read_code != 0) {
        errno = files->read_code;
        return -1;
    }
    // A short read is no end.
    return is_interrupted(files) ? -1
                                 : files->real.read_at(files->real.ctx, fd, bytes, length > 2 ? 2 : length, offset);
}

static int faulty_status(void *ctx, int fd, struct stat *out) {
    faulty *files = ctx;
    errno = files->status_code;
    return files->status_code != 0 ? -1 : files->real.status(files->real.ctx, fd, out);
}

static nc_file_ops ops_of(faulty *files) {
    files->real = nc_file_ops_system();
    nc_file_ops ops = files->real;
    ops.ctx = files;
    ops.open = faulty_open;
    ops.read_at = faulty_read_at;
    ops.status = faulty_status;
    return ops;
}

static void multipart__short_and_interrupted_reads_continue(void **state) {
    char path[PATH_BYTES];
    faulty files = {.interrupts = true};
    nc_file_ops ops = ops_of(&files);
    (void)state;
    nc_multipart *form = parts_form(&ops);
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), file_of(path, "short.txt", "12345"), NULL), NC_OK);
    nc_multipart_reader *reader = parts_reader(form);
    parts_expect(reader,
                 "--B\r\n" PARTS_FRAME("; filename=\"short.txt\"\r\nContent-Type: text/plain") "12345\r\n--B--\r\n",
                 200);
    assert_true(files.interruptions > 4);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static void multipart__a_disk_error_is_reported_with_its_errno(void **state) {
    char path[PATH_BYTES];
    faulty files = {0};
    nc_file_ops ops = ops_of(&files);
    nc_multipart_reader *none = NULL;
    nc_error err;
    (void)state;
    nc_multipart *form = parts_form(&ops);
    assert_status(nc_multipart_add_file(form, nc_slice_of("f"), file_of(path, "disk.txt", "12345"), NULL), NC_OK);
    nc_multipart_reader *reader = parts_reader(form);
    files.read_code = EIO;
    parts_expect_failure(reader, NC_ERR_FILE, "disk.txt");
    assert_status(nc_multipart_reader_error(reader, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, EIO);
    files.status_code = EIO;
    assert_status(nc_multipart_reader_new(&none, form, &err), NC_ERR_FILE);
    assert_true(nc_multipart_rewind(reader, 0));
    parts_expect_failure(reader, NC_ERR_FILE, "read");
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

int main(void) {
    harness_begin();
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    const struct CMUnitTest cases[] = {
        harness_case(multipart__a_file_is_read_repeatedly_in_pieces_of_any_size),
        harness_case(multipart__a_file_may_be_a_field_and_have_another_name),
        harness_case(multipart__an_unreadable_file_is_rejected_immediately),
        harness_case(multipart__a_missing_file_is_reported_before_the_first_byte),
        harness_case(multipart__a_file_that_changes_its_length_is_an_error),
        harness_case(multipart__short_and_interrupted_reads_continue),
        harness_case(multipart__a_disk_error_is_reported_with_its_errno),
    };
    int failed = cmocka_run_group_tests(cases, NULL, NULL);
    char command[PATH_BYTES];
    (void)snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command) == 0 ? failed : 1;
}
