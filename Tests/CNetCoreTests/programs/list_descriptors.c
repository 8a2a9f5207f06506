/// Prints the inherited descriptors and checks them.
///
///     list_descriptors KNOWN…
///
/// The standard three and the named ones are expected. Pairs of AF_UNIX sockets are libcurl's own wake-ups, the
/// documented exception: the exit code is their number, at most 100. Any other descriptor is printed on standard
/// error, and the exit code is 101.
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { MAX_PAIRS = 100, FORBIDDEN = 101 };

static int is_expected(const char *name, int count, char **arguments) {
    int fd = atoi(name);
    for (int i = 1; i < count; i++) {
        if (strcmp(name, arguments[i]) == 0) {
            return 1;
        }
    }
    return fd <= STDERR_FILENO;
}

static int is_wake_up(int fd) {
    int domain = 0;
    socklen_t length = sizeof domain;
    return getsockopt(fd, SOL_SOCKET, SO_DOMAIN, &domain, &length) == 0 && domain == AF_UNIX;
}

int main(int count, char **arguments) {
    int pairs = 0;
    int forbidden = 0;
    DIR *directory = opendir("/proc/self/fd");
    if (directory == NULL) {
        return FORBIDDEN;
    }
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        char place[512];
        char target[256] = "";
        int fd = atoi(entry->d_name);
        if (entry->d_name[0] == '.' || fd == dirfd(directory) || is_expected(entry->d_name, count, arguments)) {
            continue;
        }
        if (is_wake_up(fd)) {
            pairs++;
            continue;
        }
        (void)snprintf(place, sizeof place, "/proc/self/fd/%s", entry->d_name);
        ssize_t length = readlink(place, target, sizeof target - 1);
        fprintf(stderr, "descriptor %d was inherited: %s\n", fd, length > 0 ? target : "?");
        forbidden++;
    }
    closedir(directory);
    return forbidden > 0 ? FORBIDDEN : pairs < MAX_PAIRS ? pairs : MAX_PAIRS;
}
