/// Encodes eight fields to a complete query. The peer makes the same text with curl_easy_escape() from sorted fields.
#include "rows.h"

#include <curl/curl.h>
#include <netcore.h>
#include <string.h>

enum { FIELDS = 8 };

/// Sorted, so that the peer need not sort.
static const char *const fields[FIELDS][2] = {
    {"city", "Z\xC3\xBCrich"},      {"count", "10"}, {"from", "2026-11-21"}, {"name", "bang"}, {"near", "47.37,8.54"},
    {"note", "a few words & more"}, {"open", "1"},   {"sort", "name"},
};

static const char json[] =
    "{\"name\":\"bang\",\"city\":\"Z\xC3\xBCrich\",\"count\":10,\"open\":true,\"from\":\"2026-11-21\","
    "\"sort\":\"name\",\"near\":\"47.37,8.54\",\"note\":\"a few words & more\"}";

typedef struct work {
    nc_params params;
    nc_buf query;
} work;

static void write_query(void *ctx, size_t times) {
    work *in = ctx;
    for (size_t i = 0; i < times; i++) {
        nc_params_reset(&in->params, NC_PARAMS_OBJECT);
        for (size_t f = FIELDS; f-- > 0;) {
            nc_params_add_string(&in->params, nc_slice_of(fields[f][0]), nc_slice_of(fields[f][1]));
        }
        nc_buf_reset(&in->query);
        if (nc_query_append(&in->query, &in->params, NULL, NULL) != NC_OK) {
            return;
        }
        rows_keep(in->query.data);
    }
}

static void write_query_of_json(void *ctx, size_t times) {
    work *in = ctx;
    for (size_t i = 0; i < times; i++) {
        nc_buf_reset(&in->query);
        if (nc_params_parse_json(&in->params, nc_slice_make(json, sizeof json - 1), NULL) != NC_OK ||
            nc_query_append(&in->query, &in->params, NULL, NULL) != NC_OK) {
            return;
        }
        rows_keep(in->query.data);
    }
}

static void write_by_curl(void *ctx, size_t times) {
    work *in = ctx;
    for (size_t i = 0; i < times; i++) {
        nc_buf_reset(&in->query);
        for (size_t f = 0; f < FIELDS; f++) {
            char *name = curl_easy_escape(NULL, fields[f][0], 0);
            char *value = curl_easy_escape(NULL, fields[f][1], 0);
            if (f > 0) {
                nc_buf_append_byte(&in->query, '&');
            }
            nc_buf_append(&in->query, nc_slice_of(name));
            nc_buf_append_byte(&in->query, '=');
            nc_buf_append(&in->query, nc_slice_of(value));
            curl_free(name);
            curl_free(value);
        }
        rows_keep(in->query.data);
    }
}

int main(int argc, char **argv) {
    rows_begin(argc, argv);
    static work in;
    in.params = nc_params_init(NC_PARAMS_OBJECT, 0);
    in.query = nc_buf_init(1 << 16);
    rows_measure("query-8-keys", "curl_easy_escape", "", write_by_curl, &in);
    rows_measure("query-8-keys", "netkit", "faster:1:curl_easy_escape", write_query, &in);
    rows_measure("query-8-keys", "netkit-from-JSON", "", write_query_of_json, &in);
    nc_buf_deinit(&in.query);
    nc_params_deinit(&in.params);
    return 0;
}
