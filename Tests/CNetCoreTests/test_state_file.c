/// Directories and files of the library's state are rejected if another user could have written them.
#include "faulty.h"

#include <errno.h>
#include <fcntl.h>
#include <netcore/state_file.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { STRANGER = 65534 };

static void make_folder(const place *at, mode_t mode) {
    assert_int_equal(mkdir(at->store, 0700), 0);
    assert_int_equal(chmod(at->store, mode), 0);
}

/// Creates a file of this mode in the directory.
static const char *make_file(const place *at, mode_t mode) {
    const char *path = place_path(at->store, "state");
    place_write(path, nc_slice_of("mine"));
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void assert_told(nc_status status, const nc_error *err, int code, const char *part) {
    assert_status(status, NC_ERR_FILE);
    assert_int_equal(err->native_code, code);
    if (strstr(err->message, part) == NULL) {
        fail_msg("'%s' says nothing of '%s'", err->message, part);
    }
}

static void assert_folder_refused(const char *path, int code, const char *part) {
    nc_error err;
    nc_state_folder folder;
    assert_told(nc_state_folder_open(&folder, path, NULL, &err), &err, code, part);
    assert_int_equal(folder.fd, -1);
}

static void assert_folder_opens(const char *path) {
    nc_error err;
    nc_state_folder folder;
    assert_status(nc_state_folder_open(&folder, path, NULL, &err), NC_OK);
    assert_true(folder.fd >= 0);
    assert_int_equal(close(folder.fd), 0);
}

/// By its path, and by its name in the directory.
static void assert_file_refused(const place *at, int code, const char *part) {
    nc_error err;
    int fd = 7;
    nc_state_folder folder;
    assert_told(nc_state_file_open_at(&fd, place_path(at->store, "state"), NULL, &err), &err, code, part);
    assert_int_equal(fd, -1);
    assert_status(nc_state_folder_open(&folder, at->store, NULL, &err), NC_OK);
    assert_told(nc_state_file_open(&fd, &folder, "state", O_RDONLY, &err), &err, code, part);
    assert_int_equal(fd, -1);
    assert_int_equal(close(folder.fd), 0);
}

static void assert_file_opens(const place *at) {
    nc_error err;
    int fd = -1;
    assert_status(nc_state_file_open_at(&fd, place_path(at->store, "state"), NULL, &err), NC_OK);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void folder__that_others_can_write_to_is_refused(void **state) {
    (void)state;
    static const mode_t open_modes[] = {0777, 0770, 0775, 0702, 0720, 02775};
    static const mode_t good_modes[] = {0700, 0755, 0711, 0500, 01777, 01770, 03775};
    place at = place_make();
    make_folder(&at, 0700);
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        assert_int_equal(chmod(at.store, open_modes[i]), 0);
        assert_folder_refused(at.store, EPERM, "chmod go-w");
    }
    for (size_t i = 0; i < sizeof good_modes / sizeof *good_modes; i++) {
        assert_int_equal(chmod(at.store, good_modes[i]), 0);
        assert_folder_opens(at.store);
    }
    place_remove(&at);
}

static void file__in_a_folder_that_others_can_write_to_is_refused(void **state) {
    (void)state;
    nc_error err;
    int fd = 7;
    place at = place_make();
    make_folder(&at, 0700);
    const char *path = make_file(&at, 0600);
    assert_int_equal(chmod(at.store, 0770), 0);
    assert_told(nc_state_file_open_at(&fd, path, NULL, &err), &err, EPERM, at.store);
    assert_int_equal(fd, -1);
    // So is the directory in which it would be created.
    assert_int_equal(unlink(path), 0);
    assert_told(nc_state_file_open_at(&fd, path, NULL, &err), &err, EPERM, at.store);
    assert_int_equal(chmod(at.store, 0711), 0);
    assert_status(nc_state_file_open_at(&fd, path, NULL, &err), NC_OK);
    assert_int_equal(fd, -1);
    place_remove(&at);
}

static void file__that_others_can_write_to_is_refused(void **state) {
    (void)state;
    static const mode_t open_modes[] = {0666, 0660, 0664, 0602, 0620};
    static const mode_t good_modes[] = {0600, 0644, 0640, 0604, 0400, 0700};
    place at = place_make();
    make_folder(&at, 0700);
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        (void)make_file(&at, open_modes[i]);
        assert_file_refused(&at, EPERM, "chmod go-w");
    }
    for (size_t i = 0; i < sizeof good_modes / sizeof *good_modes; i++) {
        (void)make_file(&at, good_modes[i]);
        assert_file_opens(&at);
        assert_int_equal(unlink(place_path(at.store, "state")), 0);
    }
    place_remove(&at);
}

/// Root can create another user's files. For other users root's files are foreign.
static void file__of_another_user_is_refused(void **state) {
    (void)state;
    nc_error err;
    int fd = 7;
    if (geteuid() != 0) {
        assert_told(nc_state_file_open_at(&fd, "/etc/passwd", NULL, &err), &err, EPERM, "another user's");
        assert_folder_opens("/");
        return;
    }
    place at = place_make();
    make_folder(&at, 01777);
    const char *path = make_file(&at, 0600);
    assert_int_equal(chown(path, STRANGER, 0), 0);
    assert_file_refused(&at, EPERM, "belongs to user 65534");
    assert_int_equal(chown(path, 0, STRANGER), 0); // another group, without write permission
    assert_file_opens(&at);
    place_remove(&at);
}

/// Another user can fill their own directory, so root rejects it too.
static void folder__of_another_user_is_refused_unless_that_is_root(void **state) {
    (void)state;
    assert_folder_opens("/");
    assert_folder_opens("/tmp"); // root's, with the sticky bit
    if (geteuid() != 0) {
        return;
    }
    place at = place_make();
    make_folder(&at, 0755);
    (void)make_file(&at, 0600);
    assert_int_equal(chown(at.store, STRANGER, 0), 0);
    assert_folder_refused(at.store, EPERM, "belongs to user 65534");
    assert_int_equal(chmod(at.store, 01777), 0);
    assert_folder_refused(at.store, EPERM, "belongs to user 65534");
    int fd = 7;
    nc_error err;
    const char *path = place_path(at.store, "state");
    assert_told(nc_state_file_open_at(&fd, path, NULL, &err), &err, EPERM, "belongs to user 65534");
    place_remove(&at);
}

static void links__are_not_followed(void **state) {
    (void)state;
    nc_error err;
    int fd = -1;
    char link[160];
    place at = place_make();
    make_folder(&at, 0700);
    char other[160];
    snprintf(other, sizeof other, "%s", place_path(at.store, "other"));
    place_write(other, nc_slice_of("mine"));
    assert_int_equal(symlink(other, place_path(at.store, "state")), 0);
    assert_file_refused(&at, ELOOP, "symbolic link");
    snprintf(link, sizeof link, "%s/link", at.root);
    assert_int_equal(symlink(at.store, link), 0);
    assert_folder_refused(link, ENOTDIR, "symbolic link");
    snprintf(link, sizeof link, "%s/link///", at.root);
    assert_folder_refused(link, ENOTDIR, "symbolic link");
    // On the way to a file a link is followed, and what it leads to is checked.
    snprintf(link, sizeof link, "%s/link/other", at.root);
    assert_status(nc_state_file_open_at(&fd, link, NULL, &err), NC_OK);
    assert_int_equal(close(fd), 0);
    assert_int_equal(chmod(at.store, 0777), 0);
    assert_told(nc_state_file_open_at(&fd, link, NULL, &err), &err, EPERM, "chmod go-w");
    place_remove(&at);
}

static void what_is_no_regular_file__is_refused_without_waiting(void **state) {
    (void)state;
    place at = place_make();
    make_folder(&at, 0700);
    const char *path = place_path(at.store, "state");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_file_refused(&at, EINVAL, "no regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_file_refused(&at, EISDIR, "no regular file");
    assert_int_equal(rmdir(path), 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_file_refused(&at, ENXIO, "cannot be opened");
    assert_int_equal(close(fd), 0);
    place_remove(&at);
}

static void second_name__counts_where_others_make_names_and_before_writing(void **state) {
    (void)state;
    nc_error err;
    int fd = -1;
    nc_state_folder folder;
    char second[160];
    place at = place_make();
    make_folder(&at, 0700);
    const char *path = make_file(&at, 0600);
    snprintf(second, sizeof second, "%s/second", at.root);
    assert_int_equal(link(path, second), 0);
    assert_file_opens(&at);
    assert_status(nc_state_folder_open(&folder, at.store, NULL, &err), NC_OK);
    assert_told(nc_state_file_open(&fd, &folder, "state", O_RDWR, &err), &err, EMLINK, "second name");
    assert_int_equal(close(folder.fd), 0);
    assert_int_equal(chmod(at.store, 01777), 0);
    assert_file_refused(&at, EMLINK, "second name");
    place_remove(&at);
}

static void paths__that_are_odd_are_errors_or_found(void **state) {
    (void)state;
    nc_error err;
    int fd = 7;
    nc_state_folder folder;
    char path[5000];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_told(nc_state_folder_open(&folder, path, NULL, &err), &err, ENAMETOOLONG, "/xxx");
    assert_told(nc_state_file_open_at(&fd, path, NULL, &err), &err, ENAMETOOLONG, "/xxx");
    assert_told(nc_state_folder_open(&folder, "", NULL, &err), &err, ENOENT, "cannot be opened");
    place at = place_make();
    assert_told(nc_state_folder_open(&folder, at.store, NULL, &err), &err, ENOENT, at.store);
    const char *deep = place_path(at.store, "state");
    assert_told(nc_state_file_open_at(&fd, deep, NULL, &err), &err, ENOENT, deep);
    make_folder(&at, 0700);
    (void)make_file(&at, 0600);
    assert_int_equal(chdir(at.store), 0);
    assert_status(nc_state_file_open_at(&fd, "state", NULL, &err), NC_OK);
    assert_int_equal(close(fd), 0);
    assert_folder_opens(".");
    assert_int_equal(chdir("/"), 0);
    place_remove(&at);
}

int main(void) {
    harness_begin();
    (void)umask(022);
    const struct CMUnitTest cases[] = {
        harness_case(folder__that_others_can_write_to_is_refused),
        harness_case(file__in_a_folder_that_others_can_write_to_is_refused),
        harness_case(file__that_others_can_write_to_is_refused),
        harness_case(file__of_another_user_is_refused),
        harness_case(folder__of_another_user_is_refused_unless_that_is_root),
        harness_case(links__are_not_followed),
        harness_case(what_is_no_regular_file__is_refused_without_waiting),
        harness_case(second_name__counts_where_others_make_names_and_before_writing),
        harness_case(paths__that_are_odd_are_errors_or_found),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
