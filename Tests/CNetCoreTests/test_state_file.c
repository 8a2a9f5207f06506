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

static void make_folder(const temp_directory *at, mode_t mode) {
    assert_int_equal(mkdir(at->store, 0700), 0);
    assert_int_equal(chmod(at->store, mode), 0);
}

/// Creates a file of this mode in the directory.
static const char *make_file(const temp_directory *at, mode_t mode) {
    const char *path = temp_directory_path(at->store, "state");
    temp_file_write(path, nc_slice_of("mine"));
    assert_int_equal(chmod(path, mode), 0);
    return path;
}

static void assert_file_error(nc_status status, const nc_error *err, int code, const char *part) {
    assert_status(status, NC_ERR_FILE);
    assert_int_equal(err->native_code, code);
    if (strstr(err->message, part) == NULL) {
        fail_msg("'%s' does not contain '%s'", err->message, part);
    }
}

static void assert_folder_refused(const char *path, int code, const char *part) {
    nc_error err;
    nc_state_folder folder;
    assert_file_error(nc_state_folder_open(&folder, path, NULL, &err), &err, code, part);
    assert_int_equal(folder.fd, -1);
}

static void assert_folder_opens(const char *path) {
    nc_error err;
    nc_state_folder folder;
    assert_status(nc_state_folder_open(&folder, path, NULL, &err), NC_OK);
    assert_true(folder.fd >= 0);
    assert_int_equal(close(folder.fd), 0);
}

/// Expects that the file is rejected, both by its path and by its name in the directory.
static void assert_file_refused(const temp_directory *at, int code, const char *part) {
    nc_error err;
    int fd = 7;
    nc_state_folder folder;
    assert_file_error(nc_state_file_open_at(&fd, temp_directory_path(at->store, "state"), NULL, &err), &err, code,
                      part);
    assert_int_equal(fd, -1);
    assert_status(nc_state_folder_open(&folder, at->store, NULL, &err), NC_OK);
    assert_file_error(nc_state_file_open(&fd, &folder, "state", O_RDONLY, &err), &err, code, part);
    assert_int_equal(fd, -1);
    assert_int_equal(close(folder.fd), 0);
}

static void assert_file_opens(const temp_directory *at) {
    nc_error err;
    int fd = -1;
    assert_status(nc_state_file_open_at(&fd, temp_directory_path(at->store, "state"), NULL, &err), NC_OK);
    assert_true(fd >= 0);
    assert_int_equal(close(fd), 0);
}

static void state_directory__that_others_can_write_to_is_rejected(void **state) {
    (void)state;
    static const mode_t open_modes[] = {0777, 0770, 0775, 0702, 0720, 02775};
    static const mode_t good_modes[] = {0700, 0755, 0711, 0500, 01777, 01770, 03775};
    temp_directory at = temp_directory_make();
    make_folder(&at, 0700);
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        assert_int_equal(chmod(at.store, open_modes[i]), 0);
        assert_folder_refused(at.store, EPERM, "chmod go-w");
    }
    for (size_t i = 0; i < sizeof good_modes / sizeof *good_modes; i++) {
        assert_int_equal(chmod(at.store, good_modes[i]), 0);
        assert_folder_opens(at.store);
    }
    temp_directory_remove(&at);
}

static void state_file__in_a_directory_that_others_can_write_to_is_rejected(void **state) {
    (void)state;
    nc_error err;
    int fd = 7;
    temp_directory at = temp_directory_make();
    make_folder(&at, 0700);
    const char *path = make_file(&at, 0600);
    assert_int_equal(chmod(at.store, 0770), 0);
    assert_file_error(nc_state_file_open_at(&fd, path, NULL, &err), &err, EPERM, at.store);
    assert_int_equal(fd, -1);
    // For a missing file, the directory in which it would be created is checked.
    assert_int_equal(unlink(path), 0);
    assert_file_error(nc_state_file_open_at(&fd, path, NULL, &err), &err, EPERM, at.store);
    assert_int_equal(chmod(at.store, 0711), 0);
    assert_status(nc_state_file_open_at(&fd, path, NULL, &err), NC_OK);
    assert_int_equal(fd, -1);
    temp_directory_remove(&at);
}

static void state_file__that_others_can_write_to_is_rejected(void **state) {
    (void)state;
    static const mode_t open_modes[] = {0666, 0660, 0664, 0602, 0620};
    static const mode_t good_modes[] = {0600, 0644, 0640, 0604, 0400, 0700};
    temp_directory at = temp_directory_make();
    make_folder(&at, 0700);
    for (size_t i = 0; i < sizeof open_modes / sizeof *open_modes; i++) {
        (void)make_file(&at, open_modes[i]);
        assert_file_refused(&at, EPERM, "chmod go-w");
    }
    for (size_t i = 0; i < sizeof good_modes / sizeof *good_modes; i++) {
        (void)make_file(&at, good_modes[i]);
        assert_file_opens(&at);
        assert_int_equal(unlink(temp_directory_path(at.store, "state")), 0);
    }
    temp_directory_remove(&at);
}

/// Root can create another user's files. For other users root's files are foreign.
static void state_file__of_another_user_is_rejected(void **state) {
    (void)state;
    nc_error err;
    int fd = 7;
    if (geteuid() != 0) {
        assert_file_error(nc_state_file_open_at(&fd, "/etc/passwd", NULL, &err), &err, EPERM, "another user's");
        assert_folder_opens("/");
        return;
    }
    temp_directory at = temp_directory_make();
    make_folder(&at, 01777);
    const char *path = make_file(&at, 0600);
    assert_int_equal(chown(path, STRANGER, 0), 0);
    assert_file_refused(&at, EPERM, "belongs to user 65534");
    assert_int_equal(chown(path, 0, STRANGER), 0); // another group, without write permission
    assert_file_opens(&at);
    temp_directory_remove(&at);
}

/// Another user can fill their own directory, so root rejects it too.
static void state_directory__of_another_user_is_rejected_unless_that_is_root(void **state) {
    (void)state;
    assert_folder_opens("/");
    assert_folder_opens("/tmp"); // root's, with the sticky bit
    if (geteuid() != 0) {
        return;
    }
    temp_directory at = temp_directory_make();
    make_folder(&at, 0755);
    (void)make_file(&at, 0600);
    assert_int_equal(chown(at.store, STRANGER, 0), 0);
    assert_folder_refused(at.store, EPERM, "belongs to user 65534");
    assert_int_equal(chmod(at.store, 01777), 0);
    assert_folder_refused(at.store, EPERM, "belongs to user 65534");
    int fd = 7;
    nc_error err;
    const char *path = temp_directory_path(at.store, "state");
    assert_file_error(nc_state_file_open_at(&fd, path, NULL, &err), &err, EPERM, "belongs to user 65534");
    temp_directory_remove(&at);
}

static void state_file__symlinks_are_not_followed(void **state) {
    (void)state;
    nc_error err;
    int fd = -1;
    char link[160];
    temp_directory at = temp_directory_make();
    make_folder(&at, 0700);
    char other[160];
    snprintf(other, sizeof other, "%s", temp_directory_path(at.store, "other"));
    temp_file_write(other, nc_slice_of("mine"));
    assert_int_equal(symlink(other, temp_directory_path(at.store, "state")), 0);
    assert_file_refused(&at, ELOOP, "symbolic link");
    snprintf(link, sizeof link, "%s/link", at.root);
    assert_int_equal(symlink(at.store, link), 0);
    assert_folder_refused(link, ENOTDIR, "symbolic link");
    snprintf(link, sizeof link, "%s/link///", at.root);
    assert_folder_refused(link, ENOTDIR, "symbolic link");
    // A symbolic link within the path is followed, and the directory that it points to is checked.
    snprintf(link, sizeof link, "%s/link/other", at.root);
    assert_status(nc_state_file_open_at(&fd, link, NULL, &err), NC_OK);
    assert_int_equal(close(fd), 0);
    assert_int_equal(chmod(at.store, 0777), 0);
    assert_file_error(nc_state_file_open_at(&fd, link, NULL, &err), &err, EPERM, "chmod go-w");
    temp_directory_remove(&at);
}

static void state_file__a_special_file_is_rejected_without_blocking(void **state) {
    (void)state;
    temp_directory at = temp_directory_make();
    make_folder(&at, 0700);
    const char *path = temp_directory_path(at.store, "state");
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_file_refused(&at, EINVAL, "not a regular file");
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_file_refused(&at, EISDIR, "not a regular file");
    assert_int_equal(rmdir(path), 0);
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    snprintf(name.sun_path, sizeof name.sun_path, "%s", path);
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof name), 0);
    assert_file_refused(&at, ENXIO, "cannot be opened");
    assert_int_equal(close(fd), 0);
    temp_directory_remove(&at);
}

static void state_file__a_second_hard_link_is_rejected_in_shared_directories_and_before_writing(void **state) {
    (void)state;
    nc_error err;
    int fd = -1;
    nc_state_folder folder;
    char second[160];
    temp_directory at = temp_directory_make();
    make_folder(&at, 0700);
    const char *path = make_file(&at, 0600);
    snprintf(second, sizeof second, "%s/second", at.root);
    assert_int_equal(link(path, second), 0);
    assert_file_opens(&at);
    assert_status(nc_state_folder_open(&folder, at.store, NULL, &err), NC_OK);
    assert_file_error(nc_state_file_open(&fd, &folder, "state", O_RDWR, &err), &err, EMLINK, "more than one hard link");
    assert_int_equal(close(folder.fd), 0);
    assert_int_equal(chmod(at.store, 01777), 0);
    assert_file_refused(&at, EMLINK, "more than one hard link");
    temp_directory_remove(&at);
}

static void state_file__unusual_paths_are_errors_or_opened(void **state) {
    (void)state;
    nc_error err;
    int fd = 7;
    nc_state_folder folder;
    char path[5000];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    path[sizeof path - 1] = '\0';
    assert_file_error(nc_state_folder_open(&folder, path, NULL, &err), &err, ENAMETOOLONG, "/xxx");
    assert_file_error(nc_state_file_open_at(&fd, path, NULL, &err), &err, ENAMETOOLONG, "/xxx");
    assert_file_error(nc_state_folder_open(&folder, "", NULL, &err), &err, ENOENT, "cannot be opened");
    temp_directory at = temp_directory_make();
    assert_file_error(nc_state_folder_open(&folder, at.store, NULL, &err), &err, ENOENT, at.store);
    const char *deep = temp_directory_path(at.store, "state");
    assert_file_error(nc_state_file_open_at(&fd, deep, NULL, &err), &err, ENOENT, deep);
    make_folder(&at, 0700);
    (void)make_file(&at, 0600);
    assert_int_equal(chdir(at.store), 0);
    assert_status(nc_state_file_open_at(&fd, "state", NULL, &err), NC_OK);
    assert_int_equal(close(fd), 0);
    assert_folder_opens(".");
    assert_int_equal(chdir("/"), 0);
    temp_directory_remove(&at);
}

int main(void) {
    harness_begin();
    (void)umask(022);
    const struct CMUnitTest cases[] = {
        harness_case(state_directory__that_others_can_write_to_is_rejected),
        harness_case(state_file__in_a_directory_that_others_can_write_to_is_rejected),
        harness_case(state_file__that_others_can_write_to_is_rejected),
        harness_case(state_file__of_another_user_is_rejected),
        harness_case(state_directory__of_another_user_is_rejected_unless_that_is_root),
        harness_case(state_file__symlinks_are_not_followed),
        harness_case(state_file__a_special_file_is_rejected_without_blocking),
        harness_case(state_file__a_second_hard_link_is_rejected_in_shared_directories_and_before_writing),
        harness_case(state_file__unusual_paths_are_errors_or_opened),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
