/// Computes the cache key of a request whose canonical form has about 200 bytes. The peer computes only the MD5 of that
/// form (EVP_Digest() with a fetched algorithm). The benchmark fails if the library allocates.
#include "rows.h"

#include <netcore.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

static size_t allocations;

static void *count_allocate(void *ctx, size_t bytes) {
    (void)ctx;
    allocations++;
    return malloc(bytes);
}

static void *count_reallocate(void *ctx, void *block, size_t bytes) {
    (void)ctx;
    allocations++;
    return realloc(block, bytes);
}

static void release(void *ctx, void *block) {
    (void)ctx;
    free(block);
}

static void fail(const char *what) {
    fprintf(stderr, "cache_key: %s\n", what);
    exit(1);
}

typedef struct question {
    nc_cache_key_parts parts;
    nc_buf bytes;
    nc_digest *digest;
    EVP_MD *md5;
} question;

static void name_by_openssl(void *ctx, size_t times) {
    question *in = ctx;
    uint8_t out[EVP_MAX_MD_SIZE];
    for (size_t i = 0; i < times; i++) {
        if (EVP_Digest(in->bytes.data, in->bytes.length, out, NULL, in->md5, NULL) != 1) {
            fail("EVP_Digest");
        }
        rows_keep(out);
    }
}

static void name_by_netkit(void *ctx, size_t times) {
    question *in = ctx;
    nc_cache_key key;
    for (size_t i = 0; i < times; i++) {
        nc_buf_reset(&in->bytes);
        if (nc_cache_key_describe(&in->bytes, &in->parts, NULL) != NC_OK ||
            nc_cache_key_name(&key, in->digest, nc_buf_slice(&in->bytes), NULL) != NC_OK) {
            fail("the key");
        }
        rows_keep(&key);
    }
}

static void fill(nc_params *params) {
    nc_params_add_string(params, nc_slice_of("q"), nc_slice_of("coffee near the station"));
    nc_params_add_integer(params, nc_slice_of("page"), 3);
    nc_params_add_boolean(params, nc_slice_of("open"), true);
    nc_params_begin(params, nc_slice_of("tags"), NC_PARAMS_ARRAY);
    nc_params_add_string(params, nc_slice_of(""), nc_slice_of("espresso"));
    nc_params_add_string(params, nc_slice_of(""), nc_slice_of("wifi"));
    nc_params_end(params);
}

static void measure(question *in, const char *row, const char *aims) {
    nc_buf_reset(&in->bytes);
    if (nc_cache_key_describe(&in->bytes, &in->parts, NULL) != NC_OK || in->bytes.length < 190 ||
        in->bytes.length > 210) {
        fail("a description of another length");
    }
    size_t before = allocations;
    rows_measure(row, "EVP_Digest", "", name_by_openssl, in);
    rows_measure(row, "netkit", aims, name_by_netkit, in);
    if (allocations != before) {
        fail("the library allocated");
    }
}

int main(int argc, char **argv) {
    static const nc_allocator counting = {NULL, count_allocate, count_reallocate, release};
    nc_set_allocator(&counting);
    rows_begin(argc, argv);
    nc_params params = nc_params_init(NC_PARAMS_OBJECT, 0);
    fill(&params);
    nc_header headers[] = {{nc_slice_of("Accept"), nc_slice_of("application/json")},
                           {nc_slice_of("Accept-Language"), nc_slice_of("de;q=1, en;q=0.9")}};
    question in = {.bytes = nc_buf_init(4096), .md5 = EVP_MD_fetch(NULL, "MD5", NULL)};
    in.parts = (nc_cache_key_parts){.headers = headers, .header_count = 2, .scope = nc_slice_of("user-8731")};
    if (in.md5 == NULL || nc_digest_new(&in.digest, NC_DIGEST_MD5, NULL) != NC_OK) {
        fail("cannot begin");
    }
    in.parts.url = nc_slice_of("https://api.example.com/v1/places/search?open=1&page=3&q=coffee%20near%20the%20station&"
                               "tags%5B%5D=espresso&tags%5B%5D=wifi");
    measure(&in, "cache-key-of-200-bytes", "within:1.25:EVP_Digest");
    in.parts.method = nc_slice_of("POST");
    in.parts.url = nc_slice_of("https://api.example.com/v1/places/search");
    in.parts.parameters = &params;
    measure(&in, "cache-key-with-parameters", "");
    nc_digest_free(in.digest);
    nc_buf_deinit(&in.bytes);
    nc_params_deinit(&params);
    EVP_MD_free(in.md5);
    return 0;
}
