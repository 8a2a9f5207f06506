/// A store whose directory is removed while it is open.
#include "faulty.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { THREADS = 4, KEYS = 200 };

static nc_store *open_at(const char *directory) {
    nc_store *store = NULL;
    nc_error err;
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = directory;
    assert_status(nc_store_new(&store, &options, &err), NC_OK);
    return store;
}

static nc_status put(nc_store *store, const char *key, const char *body, nc_error *err) {
    nc_store_draft draft = {.key = nc_slice_of(key)};
    return nc_store_put(store, &draft, nc_slice_of(body), err);
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

static void remove_all(const char *directory) {
    char command[256];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", directory);
    assert_int_equal(system(command), 0);
}

static void removed_directory__a_put_recreates_it(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    char deep[128];
    (void)snprintf(deep, sizeof deep, "%s/deep", at.store);
    nc_store *store = open_at(deep);
    assert_status(put(store, "a", "one", NULL), NC_OK);
    remove_all(deep);
    assert_status(put(store, "a", "two", NULL), NC_OK);
    assert_int_equal(find(store, "a", "two"), NC_STORE_HIT);
    assert_int_equal(mode_of(deep), 0700);
    assert_int_equal(mode_of(temp_directory_path(deep, "lock")), 0600);
    assert_int_equal(mode_of(temp_directory_path(deep, "CACHEDIR.TAG")), 0600);
    // Its parent directory is recreated too, and the statistics restart.
    remove_all(at.store);
    assert_int_equal(find(store, "a", "two"), NC_STORE_MISS);
    assert_status(put(store, "b", "three", NULL), NC_OK);
    assert_int_equal(find(store, "b", "three"), NC_STORE_HIT);
    assert_int_equal(nc_store_figures(store).entries, 1);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void removed_directory__recreated_by_another_store_is_shared(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *first = open_at(at.store);
    remove_all(at.store);
    nc_store *second = open_at(at.store);
    assert_status(put(second, "a", "theirs", NULL), NC_OK);
    assert_int_equal(find(first, "a", "theirs"), NC_STORE_HIT);
    assert_status(put(first, "b", "ours", NULL), NC_OK);
    assert_int_equal(find(second, "b", "ours"), NC_STORE_HIT);
    nc_store_free(first);
    nc_store_free(second);
    temp_directory_remove(&at);
}

static void removed_directory__a_writer_recreates_it(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(at.store);
    nc_store_writer *writer = NULL;
    nc_store_draft draft = {.key = nc_slice_of("a")};
    remove_all(at.store);
    assert_status(nc_store_writer_new(&writer, store, &draft, NULL), NC_OK);
    assert_status(nc_store_writer_append(writer, nc_slice_of("piece"), NULL), NC_OK);
    assert_status(nc_store_writer_commit(writer, NULL), NC_OK);
    nc_store_writer_free(writer);
    assert_int_equal(find(store, "a", "piece"), NC_STORE_HIT);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void removed_directory__its_replacement_is_checked_as_at_opening(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(at.store);
    nc_error err;
    char other[128];
    (void)snprintf(other, sizeof other, "%s/other", at.root);
    remove_all(at.store);
    assert_int_equal(mkdir(other, 0700), 0);
    assert_int_equal(symlink(other, at.store), 0);
    assert_status(put(store, "a", "x", &err), NC_ERR_FILE);
    assert_int_equal(find(store, "a", "x"), NC_STORE_MISS);
    assert_int_equal(rmdir(other), 0); // the directory must be empty
    assert_int_equal(unlink(at.store), 0);
    // A directory with other files that others may write to is rejected.
    assert_int_equal(mkdir(at.store, 0700), 0);
    assert_int_equal(chmod(at.store, 0777), 0);
    assert_int_equal(mkdir(temp_directory_path(at.store, "foreign"), 0700), 0);
    assert_status(put(store, "a", "x", &err), NC_ERR_FILE);
    assert_int_equal(rmdir(temp_directory_path(at.store, "foreign")), 0);
    assert_int_equal(chmod(at.store, 0700), 0);
    assert_status(put(store, "a", "x", &err), NC_OK);
    assert_int_equal(mode_of(at.store), 0700);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void removed_directory__replaced_by_one_of_another_user_is_rejected(void **state) {
    (void)state;
    if (geteuid() != 0) {
        skip();
    }
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(at.store);
    nc_error err;
    remove_all(at.store);
    assert_int_equal(mkdir(at.store, 0700), 0);
    assert_int_equal(chown(at.store, 1, 1), 0);
    assert_status(put(store, "a", "x", &err), NC_ERR_FILE);
    nc_store_free(store);
    temp_directory_remove(&at);
}

static void *put_many(void *ctx) {
    nc_store *store = ctx;
    uintptr_t failures = 0;
    for (int i = 0; i < KEYS; i++) {
        char key[16];
        (void)snprintf(key, sizeof key, "k%d", i);
        failures += put(store, key, "x", NULL) != NC_OK;
    }
    return (void *)failures;
}

static void removed_directory__concurrent_puts_recreate_it_once(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    nc_store *store = open_at(at.store);
    pthread_t threads[THREADS];
    remove_all(at.store);
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, put_many, store), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        void *failures = NULL;
        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    assert_int_equal(find(store, "k199", "x"), NC_STORE_HIT);
    assert_int_equal(nc_store_figures(store).entries, KEYS);
    nc_store_free(store);
    temp_directory_remove(&at);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(removed_directory__a_put_recreates_it),
        harness_case(removed_directory__recreated_by_another_store_is_shared),
        harness_case(removed_directory__a_writer_recreates_it),
        harness_case(removed_directory__its_replacement_is_checked_as_at_opening),
        harness_case(removed_directory__replaced_by_one_of_another_user_is_rejected),
        harness_case(removed_directory__concurrent_puts_recreate_it_once),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
