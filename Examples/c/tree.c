/// Fetches JSON as a tree of cJSON, changes it, and sends it back.
///
/// usage: tree URL, for example of `nk serve --echo`. Prints each name, and the status of the answer.
#include <netcore.h>
#include <netcore/cjson.h>

#include <stdio.h>

/// Sends a request and waits. The caller releases `*out`, which is NULL without a response.
static nc_status send_request(nc_response **out, nc_engine *engine, const nc_request *request, nc_error *err) {
    nc_transfer_id id;
    *out = NULL;
    nc_status status = nc_engine_submit(engine, request, NULL, &id, err);
    return status != NC_OK ? status : nc_engine_wait(engine, id, NC_UNLIMITED, out, err);
}

static nc_status fetch_tree(cJSON **tree, nc_engine *engine, nc_slice url, nc_error *err) {
    nc_response *response = NULL;
    nc_request request = {.url = url};
    *tree = NULL;
    nc_status status = send_request(&response, engine, &request, err);
    if (status == NC_OK) {
        status = nc_cjson_body(response, NULL, tree, err);
    }
    nc_response_release(response);
    return status;
}

static nc_status send_tree(const cJSON *tree, nc_engine *engine, nc_slice url, nc_error *err) {
    nc_response *response = NULL;
    nc_buf body = nc_buf_init(1 << 20);
    nc_header type = {nc_slice_of("Content-Type"), nc_slice_of("application/json")};
    nc_status status = nc_cjson_write(&body, tree, err);
    if (status == NC_OK) {
        nc_request request = {.method = nc_slice_of("POST"),
                              .url = url,
                              .headers = &type,
                              .header_count = 1,
                              .body = nc_buf_slice(&body)};
        status = send_request(&response, engine, &request, err);
    }
    if (status == NC_OK) {
        printf("sent %zu bytes: %u\n", body.length, nc_response_status(response));
    }
    nc_response_release(response);
    nc_buf_deinit(&body);
    return status;
}

int main(int argc, char **argv) {
    nc_slice url = nc_slice_of(argc > 1 ? argv[1] : "http://127.0.0.1:8080/cities");
    nc_error err = {0};
    nc_engine *engine = NULL;
    cJSON *tree = NULL;
    nc_status status = nc_engine_new(&engine, NULL, &err);
    status = status != NC_OK ? status : fetch_tree(&tree, engine, url, &err);
    if (status == NC_OK) {
        const cJSON *city;
        cJSON_ArrayForEach(city, tree) {
            printf("%s\n", cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(city, "name")));
        }
        cJSON_AddItemToArray(tree, cJSON_CreateObject());
        status = send_tree(tree, engine, url, &err);
    }
    if (status != NC_OK) {
        fprintf(stderr, "%s: %s\n", nc_status_name(status), err.message);
    }
    cJSON_Delete(tree);
    nc_engine_close(engine, NC_UNLIMITED);
    return status == NC_OK ? 0 : 1;
}
