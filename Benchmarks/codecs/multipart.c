/// Writes a form of 100 small fields (peer: curl_formadd() and curl_formget()), and reads a form with a file of 1 GiB
/// (peer: plain read(2)).
#include "rows.h"

// Deprecated since 7.56, but libcurl has no other way to write a form into memory.
#define CURL_DISABLE_DEPRECATION

#include <curl/curl.h>
#include <fcntl.h>
#include <netcore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { FIELDS = 100, FORM_ROOM = 64 * 1024, PIECE_BYTES = 128 * 1024, FILE_SAMPLES = 3 };
static const int64_t file_bytes = (int64_t)1 << 30;

typedef struct fields {
    char names[FIELDS][16];
    char values[FIELDS][24];
    uint8_t body[FORM_ROOM];
    size_t length;
} fields;

static void fail(const char *what) {
    fprintf(stderr, "multipart: %s\n", what);
    exit(1);
}

/* --- 100 fields --- */

static size_t collect(void *ctx, const char *bytes, size_t length) {
    fields *in = ctx;
    memcpy(in->body + in->length, bytes, length);
    in->length += length;
    return length;
}

static void write_by_curl(void *ctx, size_t times) {
    fields *in = ctx;
    for (size_t i = 0; i < times; i++) {
        struct curl_httppost *first = NULL;
        struct curl_httppost *last = NULL;
        in->length = 0;
        for (size_t k = 0; k < FIELDS; k++) {
            curl_formadd(&first, &last, CURLFORM_COPYNAME, in->names[k], CURLFORM_COPYCONTENTS, in->values[k],
                         CURLFORM_END);
        }
        if (curl_formget(first, in, collect) != 0) {
            fail("curl_formget");
        }
        curl_formfree(first);
        rows_keep(in->body);
    }
}

static void write_by_netkit(void *ctx, size_t times) {
    fields *in = ctx;
    for (size_t i = 0; i < times; i++) {
        nc_multipart *form = NULL;
        nc_multipart_reader *reader = NULL;
        nc_status status = nc_multipart_new(&form, NULL, NULL);
        for (size_t k = 0; k < FIELDS && status == NC_OK; k++) {
            status = nc_multipart_add_field(form, nc_slice_of(in->names[k]), nc_slice_of(in->values[k]), NULL);
        }
        if (status != NC_OK || nc_multipart_reader_new(&reader, form, NULL) != NC_OK ||
            nc_multipart_read(reader, 0, in->body, FORM_ROOM, &in->length) != NC_PULL_END) {
            fail("a form");
        }
        nc_multipart_reader_free(reader);
        nc_multipart_release(form);
        rows_keep(in->body);
    }
}

static void measure_fields(void) {
    static fields in;
    for (size_t i = 0; i < FIELDS; i++) {
        (void)snprintf(in.names[i], sizeof in.names[i], "field%zu", i);
        (void)snprintf(in.values[i], sizeof in.values[i], "the value of %zu", i);
    }
    rows_measure("form-of-100-fields", "curl_formget", "", write_by_curl, &in);
    rows_measure("form-of-100-fields", "netkit", "faster:15:curl_formget", write_by_netkit, &in);
}

/* --- 1 GiB --- */

static const char path[] = "multipart-part";
static uint8_t piece[PIECE_BYTES];

static void read_plainly(void) {
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    int64_t total = 0;
    for (ssize_t got; (got = read(fd, piece, sizeof piece)) > 0; total += got) {
        rows_keep(piece);
    }
    if (close(fd) != 0 || total != file_bytes) {
        fail("the file cannot be read");
    }
}

static void read_as_part(void) {
    nc_multipart *form = NULL;
    nc_multipart_reader *reader = NULL;
    nc_pull pulled = NC_PULL_MORE;
    uint64_t total = 0;
    if (nc_multipart_new(&form, NULL, NULL) != NC_OK ||
        nc_multipart_add_file(form, nc_slice_of("file"), nc_slice_of(path), NULL) != NC_OK ||
        nc_multipart_reader_new(&reader, form, NULL) != NC_OK) {
        fail("a form with a file");
    }
    while (pulled == NC_PULL_MORE) {
        size_t filled = 0;
        pulled = nc_multipart_read(reader, 0, piece, sizeof piece, &filled);
        total += filled;
        rows_keep(piece);
    }
    if (pulled != NC_PULL_END || total != nc_multipart_reader_length(reader)) {
        fail("a form with a file cannot be read");
    }
    nc_multipart_reader_free(reader);
    nc_multipart_release(form);
}

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static double least_of(double before, double began_ns) {
    double taken = now_ns() - began_ns;
    return before == 0 || taken < before ? taken : before;
}

/// The peers take turns, so a slow moment affects both.
static void measure_file(void) {
    double plain_ns = 0;
    double part_ns = 0;
    struct rusage usage;
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0 || ftruncate(fd, file_bytes) != 0 || close(fd) != 0) {
        fail("no file of 1 GiB");
    }
    for (int i = 0; i < FILE_SAMPLES; i++) {
        double began_ns = now_ns();
        read_plainly();
        plain_ns = least_of(plain_ns, began_ns);
        began_ns = now_ns();
        read_as_part();
        part_ns = least_of(part_ns, began_ns);
    }
    (void)unlink(path);
    (void)getrusage(RUSAGE_SELF, &usage);
    rows_print("file-part-of-1-GiB", "read", "", plain_ns, 0);
    rows_print("file-part-of-1-GiB", "netkit", "within:1.11:read,mib:12", part_ns, (size_t)usage.ru_maxrss);
}

int main(int argc, char **argv) {
    rows_begin(argc, argv);
    measure_fields();
    measure_file();
    return 0;
}
