/// A form written to a file: complete or not at all, under every disk error.
#include "parts.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 128

static char folder[] = "/tmp/netcore-forms.XXXXXX";

static const char *path_of(char *path, const char *name) {
    (void)snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    return path;
}

/// Empties the directory, and returns the number of its files.
static size_t empty_folder(void) {
    size_t count = 0;
    DIR *open_folder = opendir(folder);
    struct dirent *entry;
    assert_non_null(open_folder);
    while ((entry = readdir(open_folder)) != NULL) {
        char path[PATH_BYTES + sizeof entry->d_name];
        (void)snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        count += unlink(path) == 0 ? 1 : 0;
    }
    closedir(open_folder);
    return count;
}

/// File operations that are slow, with one failure.
typedef struct faulty {
    nc_file_ops real;
    size_t largest_write;
    size_t room;     // bytes that can be written before the disk is full
    bool interrupts; // every other write and open
    int fails_open;
    int fails_sync;
    int fails_close;
    int fails_rename;
    bool writes_nothing;
    unsigned calls;
    bool has_written;
} faulty;

static bool is_interrupted(faulty *files) {
    bool is_now = files->interrupts && files->calls++ % 2 == 0;
    errno = is_now ? EINTR : errno;
    return is_now;
}

static int fail_with(int code) {
    errno = code;
    return -1;
}

static int faulty_open(void *ctx, const char *path, int flags, mode_t mode) {
    faulty *files = ctx;
    if (is_interrupted(files)) {
        return -1;
    }
    return files->fails_open != 0 ? fail_with(files->fails_open) : files->real.open(files->real.ctx, path, flags, mode);
}

static ssize_t faulty_write(void *ctx, int fd, const void *bytes, size_t length) {
    faulty *files = ctx;
    if (is_interrupted(files)) {
        return -1;
    }
    if (files->writes_nothing) {
        return 0;
    }
    size_t count = length < files->largest_write ? length : files->largest_write;
    count = count < files->room ? count : files->room;
    if (count == 0) {
        return fail_with(ENOSPC);
    }
    files->room -= count;
    files->has_written = true;
    return files->real.write(files->real.ctx, fd, bytes, count);
}

static int faulty_sync(void *ctx, int fd) {
    faulty *files = ctx;
    return files->fails_sync != 0 ? fail_with(files->fails_sync) : files->real.sync(files->real.ctx, fd);
}

static int faulty_close(void *ctx, int fd) {
    faulty *files = ctx;
    int closed = files->real.close(files->real.ctx, fd);
    return files->fails_close != 0 ? fail_with(files->fails_close) : closed;
}

static int faulty_rename(void *ctx, const char *from, const char *to) {
    faulty *files = ctx;
    return files->fails_rename != 0 ? fail_with(files->fails_rename) : files->real.rename(files->real.ctx, from, to);
}

static nc_file_ops ops_of(faulty *files) {
    files->real = nc_file_ops_system();
    nc_file_ops ops = files->real;
    ops.ctx = files;
    ops.open = faulty_open;
    ops.write = faulty_write;
    ops.sync = faulty_sync;
    ops.close = faulty_close;
    ops.rename = faulty_rename;
    return ops;
}

static nc_multipart *form_of(const nc_file_ops *ops) {
    nc_multipart *form = parts_form(ops);
    assert_status(nc_multipart_add_field(form, nc_slice_of("f"), nc_slice_of("a value"), NULL), NC_OK);
    return form;
}

static void expect_file(const char *path, const char *expected) {
    char bytes[512] = {0};
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    size_t length = fread(bytes, 1, sizeof bytes - 1, file);
    fclose(file);
    bytes[length] = '\0';
    assert_string_equal(bytes, expected);
}

static const char written[] = "--B\r\n" PARTS_FRAME("") "a value\r\n--B--\r\n";

static void multipart__a_form_is_written_completely_despite_short_writes(void **state) {
    char path[PATH_BYTES];
    (void)state;
    for (size_t most = 1; most < sizeof written + 1; most++) {
        faulty files = {.largest_write = most, .room = SIZE_MAX, .interrupts = true};
        nc_file_ops ops = ops_of(&files);
        nc_multipart *form = form_of(&ops);
        assert_status(nc_multipart_write_file(form, nc_slice_of(path_of(path, "form")), NULL), NC_OK);
        assert_status(nc_multipart_write_file(form, nc_slice_of(path), NULL), NC_OK); // unchanged
        expect_file(path, written);
        assert_int_equal(empty_folder(), 1);
        nc_multipart_release(form);
    }
}

static void multipart__a_form_larger_than_a_piece_is_written_completely(void **state) {
    enum { LARGE_BYTES = 300000 };
    char path[PATH_BYTES];
    struct stat info;
    char *large = calloc(1, LARGE_BYTES);
    (void)state;
    assert_non_null(large);
    nc_multipart *form = form_of(NULL);
    const nc_part part = {.bytes = nc_slice_make(large, LARGE_BYTES), .borrows_bytes = true};
    assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
    assert_status(nc_multipart_write_file(form, nc_slice_of(path_of(path, "large")), NULL), NC_OK);
    assert_int_equal(stat(path, &info), 0);
    nc_multipart_reader *reader = parts_reader(form);
    assert_int_equal(nc_multipart_reader_length(reader), info.st_size);
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
    free(large);
    assert_int_equal(empty_folder(), 1);
}

static void multipart__a_failed_write_leaves_no_file_behind(void **state) {
    faulty rows[] = {
        {.largest_write = 7, .room = 40},
        {.largest_write = 7, .room = SIZE_MAX, .writes_nothing = true},
        {.largest_write = 7, .room = SIZE_MAX, .fails_open = EACCES},
        {.largest_write = 7, .room = SIZE_MAX, .fails_sync = EIO},
        {.largest_write = 7, .room = SIZE_MAX, .fails_close = EDQUOT},
        {.largest_write = 7, .room = SIZE_MAX, .fails_rename = EXDEV},
    };
    static const int codes[] = {ENOSPC, EIO, EACCES, EIO, EDQUOT, EXDEV};
    char path[PATH_BYTES];
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_file_ops ops = ops_of(&rows[i]);
        nc_multipart *form = form_of(&ops);
        nc_error err;
        assert_status(nc_multipart_write_file(form, nc_slice_of(path_of(path, "form")), &err), NC_ERR_FILE);
        assert_int_equal(err.native_code, codes[i]);
        assert_non_null(strstr(err.message, path));
        assert_int_equal(empty_folder(), 0);
        nc_multipart_release(form);
    }
}

static nc_pull pull_late(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)ctx;
    (void)id;
    (void)bytes;
    (void)capacity;
    (void)filled;
    return NC_PULL_LATER;
}

static nc_pull pull_failing(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    (void)pull_late(ctx, id, bytes, capacity, filled);
    return NC_PULL_FAIL;
}

static void multipart__a_late_or_failing_source_leaves_no_file_behind(void **state) {
    char path[PATH_BYTES];
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        const nc_part part = {.source = {NULL, i == 0 ? pull_late : pull_failing, NULL}, .source_length = 3};
        nc_multipart *form = form_of(NULL);
        assert_status(nc_multipart_add(form, &part, NULL), NC_OK);
        assert_status(nc_multipart_write_file(form, nc_slice_of(path_of(path, "form")), NULL),
                      i == 0 ? NC_ERR_BAD_PART : NC_ERR_BODY_SOURCE);
        assert_int_equal(empty_folder(), 0);
        nc_multipart_release(form);
    }
}

static void multipart__an_invalid_path_is_rejected(void **state) {
    char path[PATH_BYTES];
    char long_path[5000];
    nc_error err;
    (void)state;
    nc_multipart *form = form_of(NULL);
    memset(long_path, 'x', sizeof long_path);
    assert_status(nc_multipart_write_file(form, nc_slice_of(""), NULL), NC_ERR_USAGE);
    assert_status(nc_multipart_write_file(form, nc_slice_make("a\0b", 3), NULL), NC_ERR_USAGE);
    assert_status(nc_multipart_write_file(form, nc_slice_make(long_path, sizeof long_path), NULL), NC_ERR_USAGE);
    assert_status(nc_multipart_write_file(form, nc_slice_of(path_of(path, "not/there")), &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, ENOENT);
    nc_multipart_release(form);
}

static void multipart__only_regular_files_are_replaced(void **state) {
    char path[PATH_BYTES];
    char link[PATH_BYTES];
    struct stat info;
    nc_error err;
    (void)state;
    nc_multipart *form = form_of(NULL);
    assert_int_equal(mkfifo(path_of(path, "pipe"), 0600), 0);
    assert_int_equal(symlink(path, path_of(link, "link")), 0);
    const char *places[] = {path, link};
    for (size_t i = 0; i < 2; i++) {
        assert_status(nc_multipart_write_file(form, nc_slice_of(places[i]), &err), NC_ERR_FILE);
        assert_int_equal(err.native_code, ESPIPE);
        assert_non_null(strstr(err.message, places[i]));
    }
    assert_int_equal(stat(link, &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(unlink(path), 0); // the link's target does not exist any more, so the link is replaced
    assert_status(nc_multipart_write_file(form, nc_slice_of(link), NULL), NC_OK);
    expect_file(link, written);
    nc_multipart_release(form);
    assert_int_equal(empty_folder(), 1);
}

static void multipart__a_name_may_be_as_long_as_the_file_system_allows(void **state) {
    char name[256];
    char path[sizeof folder + sizeof name];
    (void)state;
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    (void)snprintf(path, sizeof path, "%s/%s", folder, name);
    nc_multipart *form = form_of(NULL);
    assert_status(nc_multipart_write_file(form, nc_slice_of(path), NULL), NC_OK);
    expect_file(path, written);
    nc_multipart_release(form);
    assert_int_equal(empty_folder(), 1);
}

static void write_once(void *ctx) {
    char path[PATH_BYTES];
    nc_multipart *form = NULL;
    (void)ctx;
    if (nc_multipart_new(&form, NULL, NULL) == NC_OK &&
        nc_multipart_add_file(form, nc_slice_of("f"), nc_slice_of("/etc/hostname"), NULL) == NC_OK) {
        nc_status status = nc_multipart_write_file(form, nc_slice_of(path_of(path, "form")), NULL);
        assert_int_equal(empty_folder(), status == NC_OK ? 1 : 0);
    }
    nc_multipart_release(form);
}

static void multipart__an_allocation_failure_leaves_no_file_behind(void **state) {
    (void)state;
    assert_true(each_allocation_failure(write_once, NULL) >= 4);
}

int main(void) {
    harness_begin();
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    const struct CMUnitTest cases[] = {
        harness_case(multipart__a_form_is_written_completely_despite_short_writes),
        harness_case(multipart__a_form_larger_than_a_piece_is_written_completely),
        harness_case(multipart__a_failed_write_leaves_no_file_behind),
        harness_case(multipart__a_late_or_failing_source_leaves_no_file_behind),
        harness_case(multipart__an_invalid_path_is_rejected),
        harness_case(multipart__only_regular_files_are_replaced),
        harness_case(multipart__a_name_may_be_as_long_as_the_file_system_allows),
        harness_case(multipart__an_allocation_failure_leaves_no_file_behind),
    };
    int failed = cmocka_run_group_tests(cases, NULL, NULL);
    return rmdir(folder) == 0 ? failed : 1;
}
