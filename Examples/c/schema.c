/// Fetches JSON and checks it against a JSON Schema while it arrives.
///
/// usage: schema URL [SCHEMA]. Prints "matches", or where the body does not match and why.
#include <netcore.h>

#include <stdio.h>

static const char *const cities = "{\"type\":\"array\",\"items\":{\"properties\":{\"id\":{\"type\":\"integer\"},"
                                  "\"name\":{\"type\":\"string\"}},\"required\":[\"id\",\"name\"]}}";

static nc_status fetch(nc_response **out, nc_engine *engine, nc_slice url, nc_expectation *expectation, nc_error *err) {
    nc_transfer_id id;
    nc_request request = {.url = url, .expectation = expectation};
    nc_status status = nc_engine_submit(engine, &request, NULL, &id, err);
    return status != NC_OK ? status : nc_engine_wait(engine, id, NC_UNLIMITED, out, err);
}

/// Makes a compiled schema the expectation of a request.
static nc_status expect(nc_expectation **out, const char *text, nc_error *err) {
    nc_schema *schema = NULL;
    nc_status status = nc_schema_compile(&schema, nc_slice_of(text), NULL, err);
    if (status == NC_OK) {
        nc_expectation_options options = {.schema = schema};
        status = nc_expectation_new(out, &options, err);
    }
    nc_schema_release(schema); // the expectation has a reference of its own
    return status;
}

int main(int argc, char **argv) {
    nc_slice url = nc_slice_of(argc > 1 ? argv[1] : "http://127.0.0.1:8080/cities");
    nc_error err = {0};
    nc_engine *engine = NULL;
    nc_expectation *expectation = NULL;
    nc_response *response = NULL;
    nc_status status = expect(&expectation, argc > 2 ? argv[2] : cities, &err);
    status = status != NC_OK ? status : nc_engine_new(&engine, NULL, &err);
    status = status != NC_OK ? status : fetch(&response, engine, url, expectation, &err);
    if (status == NC_OK) {
        printf("matches\n");
    } else if (status == NC_ERR_SHAPE_MISMATCH && response != NULL) {
        nc_schema_failure failure = nc_response_schema_failure(response);
        printf("line %u, column %u, %.*s: expected %.*s, found %.*s\n", (unsigned)failure.line,
               (unsigned)failure.column, (int)failure.instance.length, (const char *)failure.instance.data,
               (int)failure.wanted.length, (const char *)failure.wanted.data, (int)failure.found.length,
               (const char *)failure.found.data);
    } else {
        fprintf(stderr, "%s\n", err.message);
    }
    nc_response_release(response);
    nc_expectation_release(expectation);
    nc_engine_close(engine, NC_UNLIMITED);
    return status == NC_OK ? 0 : 1;
}
