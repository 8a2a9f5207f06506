/// The jar's file: written completely with mode 0600, read only if valid, and not overwritten if invalid.
#include "fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netcore/cookies.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/// A directory for one jar.
typedef struct jar_directory {
    char directory[64];
    char jar[384];
} jar_directory;

static void jar_directory_make(jar_directory *one) {
    (void)snprintf(one->directory, sizeof one->directory, "/tmp/netcore-jar-XXXXXX");
    assert_non_null(mkdtemp(one->directory));
    (void)snprintf(one->jar, sizeof one->jar, "%s/jar", one->directory);
}

/// Removes the directory. Fails if it has any file except the jar.
static void jar_directory_remove(jar_directory *one) {
    (void)unlink(one->jar);
    assert_int_equal(rmdir(one->directory), 0);
}

static void write_jar(const jar_directory *one, const char *text) {
    FILE *file = fopen(one->jar, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void read_jar(const jar_directory *one, char *text, size_t capacity) {
    FILE *file = fopen(one->jar, "r");
    assert_non_null(file);
    text[fread(text, 1, capacity - 1, file)] = '\0';
    assert_int_equal(fclose(file), 0);
}

static nc_engine_options options_for(const jar_directory *one) {
    return (nc_engine_options){.cookies = NC_COOKIES_FILE, .cookie_file = nc_slice_of(one->jar)};
}

static void receive_cookie(fixture *f, const char *cookie) {
    fixture_script(f, "/", (nct_reply){.headers = fixture_text(f, "Set-Cookie: %s\r\n", cookie)});
    assert_response(fixture_get(f, "/"), 200, "");
}

static void engine__a_cookie_file_has_mode_0600_for_any_umask(void **state) {
    static const mode_t masks[] = {0, 022, 0777};
    (void)state;
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) {
        fixture f;
        jar_directory one;
        struct stat info;
        jar_directory_make(&one);
        const nc_engine_options options = options_for(&one);
        fixture_start_with(&f, NULL, &options);
        mode_t before = umask(masks[i]);
        receive_cookie(&f, "a=1");
        fixture_stop(&f);
        (void)umask(before);
        assert_int_equal(stat(one.jar, &info), 0);
        assert_int_equal(info.st_mode & 07777, 0600);
        jar_directory_remove(&one);
    }
}

static void engine__a_cookie_file_may_have_the_longest_file_name(void **state) {
    fixture f;
    jar_directory one;
    char text[1000];
    (void)state;
    jar_directory_make(&one);
    size_t length = strlen(one.directory);
    memset(one.jar + length + 1, 'x', NAME_MAX);
    one.jar[length + 1 + NAME_MAX] = '\0';
    const nc_engine_options options = options_for(&one);
    fixture_start_with(&f, NULL, &options);
    receive_cookie(&f, "a=1");
    fixture_stop(&f);
    read_jar(&one, text, sizeof text);
    assert_non_null(strstr(text, "\ta\t1\n"));
    jar_directory_remove(&one);
}

static void engine__a_cookie_file_that_others_can_read_is_made_private(void **state) {
    fixture f;
    jar_directory one;
    struct stat info;
    char text[1000];
    (void)state;
    jar_directory_make(&one);
    write_jar(&one, "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n127.0.0.1\tFALSE\t/\tFALSE\t5\tdead\t1\n");
    assert_int_equal(chmod(one.jar, 0644), 0);
    const nc_engine_options options = options_for(&one);
    fixture_start_with(&f, NULL, &options);
    receive_cookie(&f, "new=2");
    assert_non_null(strstr(fixture_received(&f, 0), "Cookie: old=1\r\n"));
    fixture_stop(&f);
    assert_int_equal(stat(one.jar, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0600);
    read_jar(&one, text, sizeof text);
    assert_memory_equal(text, "# Netscape HTTP Cookie File\n", 28);
    assert_non_null(strstr(text, "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n"));
    assert_non_null(strstr(text, "127.0.0.1\tFALSE\t/\tFALSE\t0\tnew\t2\n"));
    assert_null(strstr(text, "dead"));
    jar_directory_remove(&one);
}

static void assert_refused(const jar_directory *one, const nc_file_ops *files, nc_status status, int code,
                           const char *part) {
    nc_error err;
    nc_engine *engine = NULL;
    nc_engine_options options = options_for(one);
    options.file_ops = files;
    assert_status(nc_engine_new(&engine, &options, &err), status);
    assert_null(engine);
    assert_int_equal(err.native_code, code);
    if (strstr(err.message, one->jar) == NULL || strstr(err.message, part) == NULL) {
        fail_msg("'%s' does not contain '%s' and '%s'", err.message, one->jar, part);
    }
}

static void engine__a_file_that_is_no_cookie_jar_is_an_error_and_stays_unchanged(void **state) {
    static const char good[] = "127.0.0.1\tFALSE\t/\tFALSE\t0\ta\t1\n";
    static const char *const bad[] = {"{\"cookies\": []}\n", "ALL\n", "127.0.0.1\tFALSE\t/\tFALSE\t0\n",
                                      "127.0.0.1\tFALSE\t/\tFALSE\tnever\ta\t1\n"};
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        jar_directory one;
        char text[200];
        char contents[200];
        jar_directory_make(&one);
        (void)snprintf(text, sizeof text, "# title\n%s\n%s", good, bad[i]);
        write_jar(&one, text);
        assert_refused(&one, NULL, NC_ERR_FILE, 0, "line 4");
        read_jar(&one, contents, sizeof contents);
        assert_string_equal(contents, text);
        jar_directory_remove(&one);
    }
}

static void engine__every_cookie_that_a_server_sets_reads_back_regression_1(void **state) {
    static const char *const cookies[] = {
        "a=1; Max-Age=9223372036854775807",
        "a=1; Max-Age=99999999999999999999",
        "a=1; Max-Age=999999999999999999",
        "a=1; Expires=Fri, 31 Dec 9999 23:59:59 GMT",
        "a=1; Path=,",
        "a=; Path=/x; HttpOnly",
        "#HttpOnly_a=1",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cookies / sizeof *cookies; i++) {
        nc_buf contents[2] = {nc_buf_init(4096), nc_buf_init(4096)};
        jar_directory one;
        jar_directory_make(&one);
        const nc_engine_options options = options_for(&one);
        for (int round = 0; round < 2; round++) {
            fixture f;
            fixture_start_with(&f, NULL, &options);
            if (round == 0) {
                receive_cookie(&f, cookies[i]);
            }
            assert_status(nc_engine_copy_cookies(f.engine, &contents[round], NULL), NC_OK);
            fixture_stop(&f);
        }
        assert_true(contents[0].length > 0);
        assert_int_equal(contents[0].length, contents[1].length);
        assert_memory_equal(contents[0].data, contents[1].data, contents[0].length);
        nc_buf_deinit(&contents[0]);
        nc_buf_deinit(&contents[1]);
        jar_directory_remove(&one);
    }
}

/// libcurl cannot represent the expiry, and would omit such cookies.
static void engine__a_cookie_with_an_overflowing_expiry_is_stored(void **state) {
    fixture f;
    jar_directory one;
    nc_buf contents = nc_buf_init(4096);
    (void)state;
    jar_directory_make(&one);
    write_jar(&one, "127.0.0.1\tFALSE\t/\tFALSE\t99999999999999999999\ta\t1\n");
    const nc_engine_options options = options_for(&one);
    fixture_start_with(&f, NULL, &options);
    assert_status(nc_engine_copy_cookies(f.engine, &contents, NULL), NC_OK);
    assert_slice_equals(nc_buf_slice(&contents), "127.0.0.1\tFALSE\t/\tFALSE\t9223372036854775807\ta\t1\n");
    nc_buf_deinit(&contents);
    fixture_stop(&f);
    jar_directory_remove(&one);
}

static void engine__a_cookie_file_beyond_its_limit_is_an_error_and_stays_unchanged(void **state) {
    jar_directory one;
    struct stat info;
    (void)state;
    jar_directory_make(&one);
    write_jar(&one, "# begins well\n");
    assert_int_equal(truncate(one.jar, 17 * 1024 * 1024), 0);
    assert_refused(&one, NULL, NC_ERR_TOO_LARGE, 0, "cannot load");
    assert_int_equal(stat(one.jar, &info), 0);
    assert_int_equal(info.st_size, 17 * 1024 * 1024);
    jar_directory_remove(&one);
}

static int forbidden_open(void *ctx, const char *path, int flags, mode_t mode) {
    (void)ctx;
    (void)path;
    (void)flags;
    (void)mode;
    errno = EACCES;
    return -1;
}

static ssize_t broken_read(void *ctx, int fd, void *bytes, size_t length) {
    (void)ctx;
    (void)fd;
    (void)bytes;
    (void)length;
    errno = EIO;
    return -1;
}

static void engine__an_unreadable_cookie_file_is_an_error(void **state) {
    nc_file_ops files = nc_file_ops_system();
    jar_directory one;
    (void)state;
    jar_directory_make(&one);
    assert_int_equal(mkdir(one.jar, 0700), 0);
    assert_refused(&one, NULL, NC_ERR_FILE, EISDIR, "");
    assert_int_equal(rmdir(one.jar), 0);
    assert_int_equal(mkfifo(one.jar, 0600), 0); // has no writer, so that a read would block without end
    assert_refused(&one, NULL, NC_ERR_FILE, EINVAL, "");
    assert_int_equal(unlink(one.jar), 0);
    assert_int_equal(symlink(one.jar, one.jar), 0);
    assert_refused(&one, NULL, NC_ERR_FILE, ELOOP, "");
    assert_int_equal(unlink(one.jar), 0);
    size_t length = strlen(one.jar);
    (void)strcat(one.jar, "/in a folder that is not there");
    assert_refused(&one, NULL, NC_ERR_FILE, ENOENT, "");
    one.jar[length] = '\0';
    write_jar(&one, "");
    files.open = forbidden_open;
    assert_refused(&one, &files, NC_ERR_FILE, EACCES, "");
    files = nc_file_ops_system();
    files.read = broken_read;
    assert_refused(&one, &files, NC_ERR_FILE, EIO, "");
    jar_directory_remove(&one);
}

static atomic_int failing_renames;

static int awkward_rename(void *ctx, const char *from, const char *to) {
    (void)ctx;
    if (atomic_fetch_sub(&failing_renames, 1) > 0) {
        errno = ENOSPC;
        return -1;
    }
    return rename(from, to);
}

static void engine__a_failed_save_preserves_the_cookie_file_and_is_retried(void **state) {
    static const char old[] = "127.0.0.1\tFALSE\t/\tFALSE\t0\told\t1\n";
    nc_file_ops files = nc_file_ops_system();
    (void)state;
    files.rename = awkward_rename;
    for (int ends_well = 0; ends_well < 2; ends_well++) {
        fixture f;
        jar_directory one;
        char text[1000];
        atomic_store(&failing_renames, ends_well ? 1 : 1000);
        jar_directory_make(&one);
        write_jar(&one, old);
        nc_engine_options options = options_for(&one);
        options.file_ops = &files;
        fixture_start_with(&f, NULL, &options);
        receive_cookie(&f, "new=2");
        receive_cookie(&f, "new=3");
        assert_non_null(strstr(fixture_received(&f, 1), "new=2")); // the cookie is still in memory
        fixture_stop(&f);
        read_jar(&one, text, sizeof text);
        if (ends_well) {
            assert_non_null(strstr(text, "\tnew\t3\n"));
        } else {
            assert_string_equal(text, old);
        }
        jar_directory_remove(&one); // no other file is left
    }
}

/// A disk that can reject files, and the trace of the engine on it.
typedef struct failing_disk {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_full;
    int tries;
    int failure_count;
    nc_error last;
} failing_disk;

static int failing_rename(void *ctx, const char *from, const char *to) {
    failing_disk *disk = ctx;
    pthread_mutex_lock(&disk->mutex);
    bool is_full = disk->is_full;
    disk->tries++;
    pthread_cond_broadcast(&disk->condition);
    pthread_mutex_unlock(&disk->mutex);
    errno = ENOSPC;
    return is_full ? -1 : rename(from, to);
}

static void record_failed_save(void *ctx, const nc_error *error) {
    failing_disk *disk = ctx;
    pthread_mutex_lock(&disk->mutex);
    disk->failure_count++;
    disk->last = *error;
    pthread_mutex_unlock(&disk->mutex);
}

/// Receives a cookie, and waits until the jar has been saved or the attempt has failed.
static void receive_cookie_and_save(fixture *f, failing_disk *disk, bool is_full, const char *cookie) {
    pthread_mutex_lock(&disk->mutex);
    int before = disk->tries;
    disk->is_full = is_full;
    pthread_mutex_unlock(&disk->mutex);
    receive_cookie(f, cookie);
    pthread_mutex_lock(&disk->mutex);
    while (disk->tries == before) {
        pthread_cond_wait(&disk->condition, &disk->mutex);
    }
    pthread_mutex_unlock(&disk->mutex);
}

static void engine__a_failed_save_of_cookies_is_reported_once_until_one_succeeds(void **state) {
    fixture f;
    jar_directory one;
    failing_disk disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};
    nc_file_ops files = nc_file_ops_system();
    (void)state;
    files.ctx = &disk;
    files.rename = failing_rename;
    jar_directory_make(&one);
    nc_engine_options options = options_for(&one);
    options.file_ops = &files;
    options.loop_client = (nc_loop_client){.ctx = &disk, .save_failed = record_failed_save};
    fixture_start_with(&f, NULL, &options);
    receive_cookie_and_save(&f, &disk, true, "a=1");
    receive_cookie_and_save(&f, &disk, true, "a=2");
    receive_cookie_and_save(&f, &disk, false, "a=3");
    receive_cookie_and_save(&f, &disk, true, "a=4");
    fixture_stop(&f); // tries again
    assert_int_equal(disk.tries, 5);
    assert_int_equal(disk.failure_count, 2);
    assert_int_equal(disk.last.status, NC_ERR_FILE);
    assert_int_equal(disk.last.native_code, ENOSPC);
    assert_non_null(strstr(disk.last.message, one.jar));
    jar_directory_remove(&one);
}

static void engine__a_removed_cookie_directory_is_reported_when_the_engine_ends(void **state) {
    fixture f;
    jar_directory one;
    failing_disk disk = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};
    (void)state;
    jar_directory_make(&one);
    nc_engine_options options = options_for(&one);
    options.loop_client = (nc_loop_client){.ctx = &disk, .save_failed = record_failed_save};
    fixture_start_with(&f, NULL, &options);
    jar_directory_remove(&one);
    receive_cookie(&f, "a=1");
    fixture_stop(&f);
    assert_int_equal(disk.failure_count, 1);
    assert_int_equal(disk.last.native_code, ENOENT);
}

static void engine__a_relative_path_resolves_against_the_directory_at_creation(void **state) {
    fixture f;
    jar_directory one;
    char before[PATH_MAX];
    (void)state;
    jar_directory_make(&one);
    assert_non_null(getcwd(before, sizeof before));
    assert_int_equal(chdir(one.directory), 0);
    const nc_engine_options options = {.cookies = NC_COOKIES_FILE, .cookie_file = nc_slice_of("jar")};
    fixture_start_with(&f, NULL, &options);
    assert_int_equal(chdir(before), 0);
    receive_cookie(&f, "a=1");
    fixture_stop(&f);
    assert_int_equal(access(one.jar, F_OK), 0);
    jar_directory_remove(&one);
}

static void engine__no_cookie_file_is_created_before_the_first_cookie(void **state) {
    fixture f;
    jar_directory one;
    (void)state;
    jar_directory_make(&one);
    const nc_engine_options options = options_for(&one);
    fixture_start_with(&f, NULL, &options);
    assert_int_equal(nc_response_status(fixture_get(&f, "/").response), 404);
    fixture_stop(&f);
    assert_int_equal(access(one.jar, F_OK), -1);
    jar_directory_remove(&one);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_cookie_file_has_mode_0600_for_any_umask),
        harness_case(engine__a_cookie_file_may_have_the_longest_file_name),
        harness_case(engine__a_cookie_file_that_others_can_read_is_made_private),
        harness_case(engine__a_file_that_is_no_cookie_jar_is_an_error_and_stays_unchanged),
        harness_case(engine__every_cookie_that_a_server_sets_reads_back_regression_1),
        harness_case(engine__a_cookie_with_an_overflowing_expiry_is_stored),
        harness_case(engine__a_cookie_file_beyond_its_limit_is_an_error_and_stays_unchanged),
        harness_case(engine__an_unreadable_cookie_file_is_an_error),
        harness_case(engine__a_failed_save_preserves_the_cookie_file_and_is_retried),
        harness_case(engine__a_failed_save_of_cookies_is_reported_once_until_one_succeeds),
        harness_case(engine__a_removed_cookie_directory_is_reported_when_the_engine_ends),
        harness_case(engine__a_relative_path_resolves_against_the_directory_at_creation),
        harness_case(engine__no_cookie_file_is_created_before_the_first_cookie),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
