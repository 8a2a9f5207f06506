/* Measures puts or gets of one peer in a directory:
 *
 *     entries PEER TASK BYTES ENTRIES[:DRAWN] COUNT DIRECTORY
 *
 * PEER: store, sealed, plain (files by name, written aside and renamed) or sqlite (WAL).
 * TASK: get, put, or put-synced (fsync before the rename; SQLite's synchronous=FULL). ENTRIES are stored first. Then
 * COUNT puts or gets are measured, of entries drawn at random from all, or from the first DRAWN. Prints "cpu=… wall_s=…
 * rss_kb=…", cpu in microseconds of user and system time per operation.
 */
#include <fcntl.h>
#include <netcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_SQLITE
#include <sqlite3.h>
#endif

enum { KEY_BYTES = 64, PATH_BYTES = 512 };

typedef struct bench {
    const char *directory;
    const char *task;
    size_t bytes;
    unsigned long entries;
    unsigned long drawn;
    unsigned long count;
    uint8_t *body;
    uint8_t *into;
    nc_store *store;
    nc_buf room;
    int directory_fd;
#ifdef WITH_SQLITE
    sqlite3 *database;
    sqlite3_stmt *select;
    sqlite3_stmt *insert;
#endif
} bench;

typedef struct peer {
    const char *name;
    void (*open)(bench *on);
    void (*put)(bench *on, const char *key);
    void (*get)(bench *on, const char *key);
} peer;

static void fail(const char *what) {
    fprintf(stderr, "entries: %s failed\n", what);
    exit(1);
}

/* --- the store --- */

static void open_store(bench *on, const uint8_t *seal_key) {
    nc_store_options options = NC_STORE_OPTIONS_INIT;
    options.directory = on->directory;
    options.max_bytes = UINT64_C(1) << 40;
    options.max_entries = 1000000;
    options.seal_key = seal_key;
    options.durability = strcmp(on->task, "put-synced") == 0 ? NC_STORE_DURABILITY_DATA : NC_STORE_DURABILITY_NONE;
    on->room = nc_buf_init(SIZE_MAX / 2);
    if (nc_store_new(&on->store, &options, NULL) != NC_OK) {
        fail("opening");
    }
}

static void store_open(bench *on) {
    open_store(on, NULL);
}

static void sealed_open(bench *on) {
    static const uint8_t key[NC_STORE_SEAL_KEY_BYTES] = "a key for the benchmark";
    open_store(on, key);
}

static void store_put(bench *on, const char *key) {
    nc_store_draft draft = {.key = nc_slice_of(key), .metadata = nc_slice_of("status=200"), .host = nc_slice_of("h")};
    if (nc_store_put(on->store, &draft, nc_slice_make(on->body, on->bytes), NULL) != NC_OK) {
        fail("a put");
    }
}

static void store_get(bench *on, const char *key) {
    nc_store_entry entry;
    if (nc_store_get(&entry, on->store, nc_slice_of(key), &on->room, NULL) != NC_OK || entry.body.length != on->bytes) {
        fail("a get");
    }
}

/* --- plain files --- */

static void plain_open(bench *on) {
    (void)mkdir(on->directory, 0700);
    on->directory_fd = open(on->directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void plain_put(bench *on, const char *key) {
    static unsigned long number;
    char part[PATH_BYTES];
    char path[PATH_BYTES];
    snprintf(part, sizeof part, "%s/part-%lu", on->directory, number++);
    snprintf(path, sizeof path, "%s/%s", on->directory, key);
    int fd = open(part, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0 || write(fd, on->body, on->bytes) != (ssize_t)on->bytes ||
        (strcmp(on->task, "put-synced") == 0 && fsync(fd) != 0) || close(fd) != 0 || rename(part, path) != 0) {
        fail("a put");
    }
}

static void plain_get(bench *on, const char *key) {
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/%s", on->directory, key);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || read(fd, on->into, on->bytes + 1) != (ssize_t)on->bytes || close(fd) != 0) {
        fail("a get");
    }
}

/* --- SQLite --- */

#ifdef WITH_SQLITE
static void sqlite_open(bench *on) {
    char path[PATH_BYTES];
    (void)mkdir(on->directory, 0700);
    snprintf(path, sizeof path, "%s/database", on->directory);
    const char *mode = strcmp(on->task, "put-synced") == 0 ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=OFF";
    if (sqlite3_open(path, &on->database) != SQLITE_OK ||
        sqlite3_exec(on->database, "PRAGMA journal_mode=WAL", NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(on->database, mode, NULL, NULL, NULL) != SQLITE_OK ||
        sqlite3_exec(on->database, "CREATE TABLE entries(key TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID", NULL, NULL,
                     NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(on->database, "SELECT body FROM entries WHERE key=?", -1, &on->select, NULL) != SQLITE_OK ||
        sqlite3_prepare_v2(on->database, "INSERT OR REPLACE INTO entries VALUES(?,?)", -1, &on->insert, NULL) !=
            SQLITE_OK) {
        fail("SQLite");
    }
}

static void sqlite_put(bench *on, const char *key) {
    sqlite3_bind_text(on->insert, 1, key, -1, SQLITE_STATIC);
    sqlite3_bind_blob(on->insert, 2, on->body, (int)on->bytes, SQLITE_STATIC);
    if (sqlite3_step(on->insert) != SQLITE_DONE) {
        fail("a put");
    }
    sqlite3_reset(on->insert);
}

static void sqlite_get(bench *on, const char *key) {
    sqlite3_bind_text(on->select, 1, key, -1, SQLITE_STATIC);
    if (sqlite3_step(on->select) != SQLITE_ROW || sqlite3_column_bytes(on->select, 0) != (int)on->bytes) {
        fail("a get");
    }
    memcpy(on->into, sqlite3_column_blob(on->select, 0), on->bytes);
    sqlite3_reset(on->select);
}
#endif

static const peer peers[] = {
    {"store", store_open, store_put, store_get},
    {"sealed", sealed_open, store_put, store_get},
    {"plain", plain_open, plain_put, plain_get},
#ifdef WITH_SQLITE
    {"sqlite", sqlite_open, sqlite_put, sqlite_get},
#endif
};

/* --- measuring --- */

static double seconds(struct timeval time) {
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

static double cpu_now(long *rss_kb) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *rss_kb = usage.ru_maxrss;
    return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

static double wall_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void name_key(char key[KEY_BYTES], unsigned long number) {
    // The key is as long as the canonical form of a short request.
    snprintf(key, KEY_BYTES, "GET-example.com-v1-cities-count-10-entry-%lu", number);
}

static void run(bench *on, const peer *who) {
    char key[KEY_BYTES];
    uint64_t chance = 1;
    long rss_kb = 0;
    who->open(on);
    for (unsigned long i = 0; i < on->entries; i++) {
        name_key(key, i);
        who->put(on, key);
    }
    void (*what)(bench *, const char *) = strcmp(on->task, "get") == 0 ? who->get : who->put;
    // The random draws are the same for every peer. The first tenth of the operations warms up and is not measured.
    unsigned long warm_up = on->count / 10;
    double cpu = 0;
    double wall = 0;
    for (unsigned long i = 0; i < on->count + warm_up; i++) {
        if (i == warm_up) {
            cpu = cpu_now(&rss_kb);
            wall = wall_now();
        }
        chance = chance * UINT64_C(6364136223846793005) + 1442695040888963407u;
        name_key(key, (unsigned long)(chance >> 33) % on->drawn);
        what(on, key);
    }
    cpu = cpu_now(&rss_kb) - cpu;
    printf("cpu=%.4f wall_s=%.4f rss_kb=%ld\n", cpu * 1e6 / (double)on->count, wall_now() - wall, rss_kb);
}

int main(int argc, char *argv[]) {
    if (argc != 7) {
        fprintf(stderr, "usage: entries PEER TASK BYTES ENTRIES[:DRAWN] COUNT DIRECTORY\n");
        return 2;
    }
    bench on = {.directory = argv[6], .task = argv[2], .bytes = strtoul(argv[3], NULL, 10)};
    char *drawn = NULL;
    on.entries = strtoul(argv[4], &drawn, 10);
    on.drawn = *drawn == ':' ? strtoul(drawn + 1, NULL, 10) : on.entries;
    on.count = strtoul(argv[5], NULL, 10);
    on.body = malloc(on.bytes + 1);
    on.into = malloc(on.bytes + 1);
    if (on.body == NULL || on.into == NULL || on.drawn == 0 || on.drawn > on.entries) {
        return 2;
    }
    for (size_t i = 0; i < on.bytes; i++) {
        on.body[i] = (uint8_t)(i * 2654435761u >> 13);
    }
    for (size_t i = 0; i < sizeof peers / sizeof peers[0]; i++) {
        if (strcmp(peers[i].name, argv[1]) == 0) {
            run(&on, &peers[i]);
            return 0;
        }
    }
    fprintf(stderr, "entries: no peer '%s'\n", argv[1]);
    return 2;
}
