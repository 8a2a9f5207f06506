/* Downloads one file with one peer:
 *
 *     fetch PEER URL FILE [SEGMENTS]
 *
 * PEER: raw (libcurl's easy interface, a 512 KiB buffer, write(2)), download (nc_download, synced at the end and every
 * second), unsynced (the same without fsync). Prints "cpu=… wall_s=… rss_kb=…", cpu in seconds of user and system time.
 */
#include <curl/curl.h>
#include <fcntl.h>
#include <netcore.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "measure.h"

static void fail(const char *what) {
    fprintf(stderr, "fetch: %s failed\n", what);
    exit(1);
}

/* --- plain libcurl --- */

static size_t write_piece(char *bytes, size_t one, size_t length, void *data) {
    const int *fd = data;
    size_t at = 0;
    (void)one;
    while (at < length) {
        ssize_t wrote = write(*fd, bytes + at, length - at);
        if (wrote <= 0) {
            return 0;
        }
        at += (size_t)wrote;
    }
    return length;
}

static void run_raw(const char *url, const char *path) {
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    CURL *easy = curl_easy_init();
    if (fd < 0 || easy == NULL) {
        fail("opening");
    }
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, 512L * 1024);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, write_piece);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEDATA, &fd);
    (void)curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    if (curl_easy_perform(easy) != CURLE_OK) {
        fail("libcurl");
    }
    curl_easy_cleanup(easy);
    (void)close(fd);
}

/* --- downloads --- */

typedef struct waiting {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    bool is_over;
    nc_error error;
} waiting;

static void on_done(void *ctx, nc_download_id id, nc_response *response, const nc_download_result *result,
                    const nc_error *error) {
    waiting *one = ctx;
    (void)id;
    (void)response;
    (void)result;
    pthread_mutex_lock(&one->mutex);
    one->is_over = true;
    one->error = *error;
    pthread_cond_signal(&one->condition);
    pthread_mutex_unlock(&one->mutex);
}

static void run_download(const char *url, const char *path, uint32_t segments, bool skips_sync) {
    waiting one = {.mutex = PTHREAD_MUTEX_INITIALIZER, .condition = PTHREAD_COND_INITIALIZER};
    nc_engine *engine = NULL;
    nc_download_id id = 0;
    const nc_request request = {.url = nc_slice_of(url)};
    const nc_download_options options = {
        .request = &request, .path = nc_slice_of(path), .segments = segments, .skips_sync = skips_sync};
    const nc_download_sink sink = {.ctx = &one, .on_done = on_done};
    if (nc_engine_new(&engine, NULL, NULL) != NC_OK || nc_download_start(engine, &options, &sink, &id, NULL) != NC_OK) {
        fail("starting");
    }
    pthread_mutex_lock(&one.mutex);
    while (!one.is_over) {
        pthread_cond_wait(&one.condition, &one.mutex);
    }
    pthread_mutex_unlock(&one.mutex);
    if (one.error.status != NC_OK) {
        fail(one.error.message);
    }
    (void)nc_engine_close(engine, 10000);
}

int main(int count, char **arguments) {
    struct rusage usage;
    if (count < 4) {
        fail("reading the command line");
    }
    curl_global_init(CURL_GLOBAL_DEFAULT);
    uint32_t segments = count > 4 ? (uint32_t)strtoul(arguments[4], NULL, 10) : 1;
    bench_usage begin = bench_usage_now();
    if (strcmp(arguments[1], "raw") == 0) {
        run_raw(arguments[2], arguments[3]);
    } else {
        run_download(arguments[2], arguments[3], segments, strcmp(arguments[1], "unsynced") == 0);
    }
    bench_usage end = bench_usage_now();
    getrusage(RUSAGE_SELF, &usage);
    printf("cpu=%.4f wall_s=%.4f rss_kb=%ld\n", end.cpu_s - begin.cpu_s, end.wall_s - begin.wall_s, usage.ru_maxrss);
    return 0;
}
