#include "faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

static nc_store *open_at(const char *directory) {
    nc_store *store = NULL;
    nc_error err;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = directory;
    assert_status(nc_store_new(&store, &options, &err), NC_OK);
    return store;
}

static void assert_refused(const char *directory, int code) {
    nc_store *store = NULL;
    nc_error err;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = directory;
    assert_status(nc_store_new(&store, &options, &err), NC_ERR_FILE);
    assert_int_equal(err.native_code, code);
    // The message names the path; a trailing slash may be omitted.
    assert_non_null(strstr(err.message, "/store"));
    assert_null(store);
}

static void put(nc_store *store, const char *key, const char *body) {
    nc_error err;
    nc_store_draft draft = {.key = nc_slice_of(key)};
    assert_status(nc_store_put(store, &draft, nc_slice_of(body), &err), NC_OK);
}

static nc_store_found find(nc_store *store, const char *key, const char *body) {
    nc_buf room = nc_buf_init(1 << 20);
    nc_store_entry entry;
    assert_status(nc_store_get(&entry, store, nc_slice_of(key), &room, NULL), NC_OK);
    if (entry.found == NC_STORE_HIT) {
        assert_slice_equals(entry.body, body);
    }
    nc_buf_deinit(&room);
    return entry.found;
}

static mode_t mode_of(const char *path) {
    struct stat info;
    assert_int_equal(lstat(path, &info), 0);
    return info.st_mode & 07777;
}

/* --- the directory --- */

static void store__is_private_to_its_user_for_any_umask(void **state) {
    (void)state;
    static const mode_t masks[] = {0, 022, 077, 0777};
    for (size_t i = 0; i < sizeof masks / sizeof masks[0]; i++) {
        temp_directory at = temp_directory_make();
        char deep[128];
        snprintf(deep, sizeof deep, "%s/a/b", at.store);
        mode_t before = umask(masks[i]);
        nc_store *store = open_at(deep);
        put(store, "k", "v");
        umask(before);
        assert_int_equal(mode_of(at.store), 0700);
        assert_int_equal(mode_of(deep), 0700);
        assert_int_equal(mode_of(temp_directory_entry(deep)), 0600);
        assert_int_equal(mode_of(temp_directory_path(deep, "lock")), 0600);
        assert_int_equal(mode_of(temp_directory_path(deep, "CACHEDIR.TAG")), 0600);
        nc_store_free(store);
        temp_directory_remove(&at);
    }
}

static void store__makes_a_directory_that_others_can_read_private(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    assert_int_equal(mkdir(at.store, 0755), 0);
    nc_store_free(open_at(at.store));
    assert_int_equal(mode_of(at.store), 0700);
    temp_directory_remove(&at);
}

static void store__rejects_a_directory_where_others_could_create_entries(void **state) {
    (void)state;
    static const mode_t modes[] = {0777, 0770, 0702};
    temp_directory at = temp_directory_make();
    nc_store_free(open_at(at.store));
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        assert_int_equal(chmod(at.store, modes[i]), 0);
        assert_refused(at.store, EPERM);
        assert_int_equal(mode_of(at.store), modes[i]);
    }
    temp_directory_remove(&at);
}

/// Another user may have created such an entry before the directory got its mode.
static void store__ignores_an_entry_that_others_could_write(void **state) {
    (void)state;
    for (int i = 0; i < (geteuid() == 0 ? 2 : 1); i++) {
        temp_directory at = temp_directory_make();
        nc_store *store = open_at(at.store);
        put(store, "k", "planted");
        const char *entry = temp_directory_entry(at.store);
        assert_int_equal(i == 0 ? chmod(entry, 0620) : chown(entry, 65534, 0), 0);
        nc_store_free(store);
        store = open_at(at.store);
        assert_int_equal(find(store, "k", "planted"), NC_STORE_DAMAGED);
        put(store, "k", "own");
        assert_int_equal(find(store, "k", "own"), NC_STORE_HIT);
        nc_store_free(store);
        temp_directory_remove(&at);
    }
}

static void store__does_not_change_another_users_directory(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    assert_int_equal(mkdir(at.store, 0755), 0);
    temp_file_write(temp_directory_path(at.store, "letter.txt"), nc_slice_of("dear"));
    assert_int_equal(chmod(at.store, 0755), 0);
    nc_store *store = open_at(at.store);
    put(store, "k", "v");
    assert_status(nc_store_remove_all(NULL, store, NULL), NC_OK);
    nc_store_report report;
    assert_status(nc_store_verify(&report, store, NULL), NC_OK);
    assert_int_equal(report.foreign, 1);
    nc_store_free(store);
    assert_int_equal(mode_of(at.store), 0755);
    assert_int_equal(access(temp_directory_path(at.store, "letter.txt"), F_OK), 0);
    // A tag would exclude the foreign file from backups.
    assert_int_equal(access(temp_directory_path(at.store, "CACHEDIR.TAG"), F_OK), -1);
    assert_int_equal(chmod(at.store, 01777), 0);
    assert_refused(at.store, EPERM);
    assert_int_equal(mode_of(at.store), 01777);
    temp_directory_remove(&at);
}

static void store__names_and_preserves_a_file_instead_of_its_directory(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    temp_file_write(at.store, nc_slice_of("precious"));
    assert_refused(at.store, ENOTDIR);
    char below[128];
    snprintf(below, sizeof below, "%s/below", at.store);
    assert_refused(below, ENOTDIR);
    nc_buf contents = temp_file_read(at.store);
    assert_slice_equals(nc_buf_slice(&contents), "precious");
    nc_buf_deinit(&contents);
    assert_int_equal(unlink(at.store), 0);
    assert_int_equal(mkfifo(at.store, 0600), 0);
    assert_refused(at.store, ENOTDIR);
    assert_int_equal(unlink(at.store), 0);
    // A link is not followed, not even with a trailing slash.
    assert_int_equal(symlink("/tmp", at.store), 0);
    assert_refused(at.store, ENOTDIR);
    snprintf(below, sizeof below, "%s//", at.store);
    assert_refused(below, ENOTDIR);
    temp_directory_remove(&at);
}

static void store__rejects_a_directory_of_another_user(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    assert_int_equal(mkdir(at.store, 0700), 0);
    if (geteuid() == 0) {
        assert_int_equal(chown(at.store, 65534, 65534), 0);
        assert_refused(at.store, EPERM);
    } else {
        nc_store *store = NULL;
        nc_store_options options = NC_STORE_OPTIONS_INIT;
        options.directory = "/";
        assert_status(nc_store_new(&store, &options, NULL), NC_ERR_FILE);
    }
    temp_directory_remove(&at);
}

static void store__marks_its_directory_as_a_cache_for_backup_programs(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store_free(open_at(at.store));
    nc_buf tag = temp_file_read(temp_directory_path(at.store, "CACHEDIR.TAG"));
    static const char signature[] = "Signature: 8a477f597d28d172789f06886806bc55\n";
    assert_true(tag.length > sizeof signature - 1);
    assert_memory_equal(tag.data, signature, sizeof signature - 1);
    nc_buf_deinit(&tag);
    temp_directory_remove(&at);
}

/* --- the default directory --- */

static void assert_default(const char *cache, const char *home, const char *expected) {
    char *old_cache = getenv("XDG_CACHE_HOME") == NULL ? NULL : strdup(getenv("XDG_CACHE_HOME"));
    char *old_home = getenv("HOME") == NULL ? NULL : strdup(getenv("HOME"));
    cache == NULL ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", cache, 1);
    home == NULL ? unsetenv("HOME") : setenv("HOME", home, 1);
    nc_buf out = nc_buf_init(4096);
    assert_status(nc_store_default_directory(&out, "app", NULL), NC_OK);
    if (expected != NULL) {
        assert_slice_equals(nc_buf_slice(&out), expected);
    }
    assert_true(out.data[0] == '/' && strlen((char *)out.data) == out.length);
    nc_buf_deinit(&out);
    old_cache == NULL ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", old_cache, 1);
    old_home == NULL ? unsetenv("HOME") : setenv("HOME", old_home, 1);
    free(old_cache);
    free(old_home);
}

static void default_directory__follows_the_base_directory_specification(void **state) {
    (void)state;
    assert_default("/var/cache/me", "/home/me", "/var/cache/me/app/netkit");
    assert_default(NULL, "/home/me", "/home/me/.cache/app/netkit");
    assert_default("", "/home/me", "/home/me/.cache/app/netkit");
    assert_default("relative", "/home/me", "/home/me/.cache/app/netkit");
    assert_default(NULL, NULL, NULL);
    assert_default(NULL, "relative", NULL);
}

static void default_directory__accepts_one_name_component_for_an_application(void **state) {
    (void)state;
    static const char *const wrong[] = {"", ".", "..", "a/b", "/a", "a\n", "\x7f", "../../etc"};
    nc_buf out = nc_buf_init(4096);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        nc_error err;
        assert_status(nc_store_default_directory(&out, wrong[i], &err), NC_ERR_USAGE);
        assert_int_equal(out.length, 0);
    }
    assert_status(nc_store_default_directory(&out, "...", NULL), NC_OK);
    nc_buf_deinit(&out);
    nc_buf small = nc_buf_init(4);
    assert_status(nc_store_default_directory(&small, "app", NULL), NC_ERR_TOO_LARGE);
    nc_buf_deinit(&small);
}

/* --- files planted by other users --- */

typedef void (*plant_fn)(const char *path);

static char victim[512];

static void plant_link(const char *path) {
    assert_int_equal(symlink(victim, path), 0);
}
static void plant_dangling_link(const char *path) {
    assert_int_equal(symlink("/nonexistent/netkit", path), 0);
}
static void plant_hard_link(const char *path) {
    assert_int_equal(link(victim, path), 0);
}
static void plant_fifo(const char *path) {
    assert_int_equal(mkfifo(path, 0666), 0);
}
static void plant_socket(const char *path) {
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof address), 0);
    close(fd);
}
static void plant_directory(const char *path) {
    assert_int_equal(mkdir(path, 0777), 0);
}
static void plant_full_directory(const char *path) {
    char inner[600];
    assert_int_equal(mkdir(path, 0777), 0);
    snprintf(inner, sizeof inner, "%s/inner", path);
    temp_file_write(inner, nc_slice_of("x"));
}
static void plant_empty_file(const char *path) {
    temp_file_write(path, nc_slice_of(""));
}

static const plant_fn plants[] = {plant_link,   plant_dangling_link, plant_hard_link,      plant_fifo,
                                  plant_socket, plant_directory,     plant_full_directory, plant_empty_file};
enum { PLANTS = sizeof plants / sizeof plants[0] };

/// Creates a store with one entry, and a file without permissions.
static void begin_planting(temp_directory *at, char *entry) {
    *at = temp_directory_make();
    snprintf(victim, sizeof victim, "%s/victim", at->root);
    temp_file_write(victim, nc_slice_of("untouched"));
    nc_store *store = open_at(at->store);
    put(store, "k", "v");
    snprintf(entry, 512, "%s", temp_directory_entry(at->store));
    nc_store_free(store);
}

static void end_planting(temp_directory *at) {
    nc_buf contents = temp_file_read(victim);
    assert_slice_equals(nc_buf_slice(&contents), "untouched");
    nc_buf_deinit(&contents);
    assert_int_equal(access("/nonexistent/netkit", F_OK), -1);
    assert_int_equal(temp_directory_count_temp_files(at->store), 0);
    temp_directory_remove(at);
}

static void entry__replaced_by_another_file_is_a_miss_and_can_be_put(void **state) {
    (void)state;
    for (size_t i = 0; i < PLANTS; i++) {
        for (int is_open = 0; is_open < 2; is_open++) {
            temp_directory at;
            char entry[512];
            begin_planting(&at, entry);
            nc_store *store = is_open ? open_at(at.store) : NULL;
            assert_int_equal(unlink(entry), 0);
            plants[i](entry);
            store = is_open ? store : open_at(at.store);
            assert_true(find(store, "k", "v") != NC_STORE_HIT);
            put(store, "k", "again");
            assert_int_equal(find(store, "k", "again"), NC_STORE_HIT);
            nc_store_free(store);
            store = open_at(at.store);
            assert_int_equal(find(store, "k", "again"), NC_STORE_HIT);
            nc_store_free(store);
            end_planting(&at);
        }
    }
}

static void entry__replaces_anything_planted_at_its_name(void **state) {
    (void)state;
    for (size_t i = 0; i < PLANTS; i++) {
        temp_directory at;
        char entry[512];
        begin_planting(&at, entry);
        nc_store *store = open_at(at.store);
        assert_int_equal(unlink(entry), 0);
        plants[i](entry);
        put(store, "k", "again");
        assert_int_equal(find(store, "k", "again"), NC_STORE_HIT);
        assert_status(nc_store_remove_all(NULL, store, NULL), NC_OK);
        // A planted directory that is not empty cannot be removed. It stays, and is never read as an entry.
        assert_true(find(store, "k", "") != NC_STORE_HIT);
        nc_store_free(store);
        end_planting(&at);
    }
}

static void lock_and_tag__are_not_written_through_planted_links(void **state) {
    (void)state;
    for (size_t i = 0; i < PLANTS; i++) {
        temp_directory at;
        char entry[512];
        char name[512];
        begin_planting(&at, entry);
        snprintf(name, sizeof name, "%s/CACHEDIR.TAG", at.store);
        assert_int_equal(unlink(name), 0);
        plants[i](name);
        nc_store_free(open_at(at.store));
        snprintf(name, sizeof name, "%s/lock", at.store);
        assert_int_equal(unlink(name), 0);
        plants[i](name);
        if (plants[i] == plant_full_directory) {
            assert_refused(at.store, EISDIR);
        } else {
            nc_store *store = open_at(at.store);
            assert_int_equal(find(store, "k", "v"), NC_STORE_HIT);
            nc_store_free(store);
        }
        end_planting(&at);
    }
}

static void temp_files__orphans_are_removed_and_those_of_open_stores_are_not(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(at.store);
    nc_store_writer *writer = NULL;
    assert_status(nc_store_writer_new(&writer, store, &(nc_store_draft){.key = nc_slice_of("k")}, NULL), NC_OK);
    assert_status(nc_store_writer_append(writer, nc_slice_of("half"), NULL), NC_OK);
    temp_file_write(temp_directory_path(at.store, "part-0000000000000007-0000000000000000"), nc_slice_of("left"));
    assert_int_equal(temp_directory_count_temp_files(at.store), 2);
    nc_store *other = open_at(at.store);
    assert_int_equal(temp_directory_count_temp_files(at.store), 1);
    nc_store_free(other);
    assert_status(nc_store_writer_append(writer, nc_slice_of(" and half"), NULL), NC_OK);
    assert_status(nc_store_writer_commit(writer, NULL), NC_OK);
    nc_store_writer_free(writer);
    assert_int_equal(find(store, "k", "half and half"), NC_STORE_HIT);
    // Similar names belong to other programs.
    static const char *const foreign[] = {
        "part-0000000000000007-000000000000000",  "part-0000000000000007-00000000000000000",
        "part-000000000000000G-0000000000000000", "00112233445566778899aabbccddeeff.4",
        "00112233445566778899aabbccddeeff.",      "00112233445566778899aabbccddeeff",
        "00112233445566778899AABBCCDDEEFF.0",     "00112233445566778899aabbccddeeff.00"};
    enum { FOREIGN = sizeof foreign / sizeof foreign[0] };
    for (size_t i = 0; i < FOREIGN; i++) {
        temp_file_write(temp_directory_path(at.store, foreign[i]), nc_slice_of("mine"));
    }
    nc_store_report report;
    assert_status(nc_store_verify(&report, store, NULL), NC_OK);
    assert_int_equal(report.foreign, FOREIGN);
    assert_int_equal(report.good, 1);
    assert_int_equal(temp_directory_count(at.store), FOREIGN + 3);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static int no_lock(void *ctx, int fd, struct flock *range, bool is_asking) {
    (void)ctx;
    (void)fd;
    (void)range;
    (void)is_asking;
    errno = ENOLCK;
    return -1;
}

static void temp_files__stay_for_an_hour_without_file_locks(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_file_ops files = nc_file_ops_system();
    files.lock = no_lock;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = at.store;
    options.file_ops = &files;
    nc_store *store = NULL;
    nc_store_free(open_at(at.store));
    const char *part = temp_directory_path(at.store, "part-0000000000000007-0000000000000000");
    temp_file_write(part, nc_slice_of("left"));
    assert_status(nc_store_new(&store, &options, NULL), NC_OK);
    put(store, "k", "v");
    assert_int_equal(find(store, "k", "v"), NC_STORE_HIT);
    nc_store_free(store);
    assert_int_equal(temp_directory_count_temp_files(at.store), 1);
    int fd = open(temp_directory_path(at.store, "part-0000000000000007-0000000000000000"), O_RDWR | O_CLOEXEC);
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    assert_int_equal(files.set_time(NULL, fd, (int64_t)(now.tv_sec - 3700) * 1000000000), 0);
    close(fd);
    assert_status(nc_store_new(&store, &options, NULL), NC_OK);
    nc_store_free(store);
    assert_int_equal(temp_directory_count_temp_files(at.store), 0);
    temp_directory_remove(&at);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(store__is_private_to_its_user_for_any_umask),
        harness_case(store__makes_a_directory_that_others_can_read_private),
        harness_case(store__rejects_a_directory_where_others_could_create_entries),
        harness_case(store__ignores_an_entry_that_others_could_write),
        harness_case(store__does_not_change_another_users_directory),
        harness_case(store__names_and_preserves_a_file_instead_of_its_directory),
        harness_case(store__rejects_a_directory_of_another_user),
        harness_case(store__marks_its_directory_as_a_cache_for_backup_programs),
        harness_case(default_directory__follows_the_base_directory_specification),
        harness_case(default_directory__accepts_one_name_component_for_an_application),
        harness_case(entry__replaced_by_another_file_is_a_miss_and_can_be_put),
        harness_case(entry__replaces_anything_planted_at_its_name),
        harness_case(lock_and_tag__are_not_written_through_planted_links),
        harness_case(temp_files__orphans_are_removed_and_those_of_open_stores_are_not),
        harness_case(temp_files__stay_for_an_hour_without_file_locks),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
