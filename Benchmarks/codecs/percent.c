/// Percent-encoding beside curl_easy_escape() and memcpy(); the SIMD versions of this processor beside the scalar one.
#include "rows.h"

#include "text/percent.h"

#include <curl/curl.h>
#include <netcore.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 1024 };

typedef struct work {
    uint8_t text[LONGEST];
    uint8_t copy[NC_PERCENT_ROOM(LONGEST)];
    size_t length;
    nc_buf buf;
    nc_percent_kernel way;
} work;

static void escape(void *ctx, size_t times) {
    work *in = ctx;
    for (size_t i = 0; i < times; i++) {
        nc_buf_reset(&in->buf);
        nc_percent_append(&in->buf, nc_slice_make(in->text, in->length), NC_PERCENT_QUERY);
        rows_keep(in->buf.data);
    }
}

static void escape_by_curl(void *ctx, size_t times) {
    work *in = ctx;
    for (size_t i = 0; i < times; i++) {
        char *escaped = curl_easy_escape(NULL, (const char *)in->text, (int)in->length);
        rows_keep(escaped);
        curl_free(escaped);
    }
}

static void copy(void *ctx, size_t times) {
    work *in = ctx;
    for (size_t i = 0; i < times; i++) {
        memcpy(in->copy, in->text, in->length);
        rows_keep(in->copy);
    }
}

static void escape_one_way(void *ctx, size_t times) {
    work *in = ctx;
    const nc_percent_set *set = nc_percent_set_of(NC_PERCENT_QUERY);
    for (size_t i = 0; i < times; i++) {
        (void)in->way(in->copy, in->text, in->length, set);
        rows_keep(in->copy);
    }
}

/// Texts in which no byte, about every fourth byte, or every byte is escaped.
static const struct {
    const char *name;
    const char *pattern;
    const char *aims;
} texts[] = {
    {"safe", "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~",
     "faster:40:curl_easy_escape,within:8:memcpy"},
    {"mixed", "caf\xC3\xA9 & cr\xC3\xA8me: 50% of all/users? (yes)=no; plain words go here, ",
     "faster:15:curl_easy_escape"},
    {"unsafe", " &=%+\"<>\xE5\x90\x8D", "faster:15:curl_easy_escape"},
};

static void fill(work *in, const char *pattern, size_t length) {
    in->length = length;
    for (size_t i = 0; i < length; i++) {
        in->text[i] = (uint8_t)pattern[i % strlen(pattern)];
    }
}

int main(int argc, char **argv) {
    rows_begin(argc, argv);
    static work in;
    in.buf = nc_buf_init(1 << 20);
    char row[64];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        fill(&in, texts[i].pattern, LONGEST);
        (void)snprintf(row, sizeof row, "escape-1-KiB-%s", texts[i].name);
        rows_measure(row, "curl_easy_escape", "", escape_by_curl, &in);
        rows_measure(row, "memcpy", "", copy, &in);
        rows_measure(row, "netkit", texts[i].aims, escape, &in);
        fill(&in, texts[i].pattern, 24);
        (void)snprintf(row, sizeof row, "escape-24-B-%s", texts[i].name);
        rows_measure(row, "curl_easy_escape", "", escape_by_curl, &in);
        rows_measure(row, "netkit", "ns:12", escape, &in);
    }
    nc_percent_named_kernel ways[4];
    size_t count = nc_percent_kernels(ways);
    static const size_t lengths[] = {4, 8, 12, 16, 24, 40};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        fill(&in, texts[1].pattern, lengths[i]);
        (void)snprintf(row, sizeof row, "escape-%zu-B-way", lengths[i]);
        in.way = ways[0].escape;
        rows_measure(row, "scalar", "", escape_one_way, &in);
        in.way = ways[count - 1].escape;
        // For short input both are the scalar version, so they differ only by errors of measurement.
        const char *aim = lengths[i] < NC_PERCENT_FEW ? "" : "within:1:scalar";
        rows_measure(row, ways[count - 1].name, aim, escape_one_way, &in);
    }
    nc_buf_deinit(&in.buf);
    return 0;
}
