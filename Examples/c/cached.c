/// Fetches a URL with retries and a cache on the disk, and prints where each response came from.
///
/// usage: cached DIRECTORY URL
/// Run it twice: the second run needs no network while the response is fresh.
#include <netcore.h>

#include <stdio.h>

static const char *source_of(const nc_call_cache *report) {
    switch (report->outcome) {
    case NC_CACHE_OUTCOME_HIT:
        return "the cache";
    case NC_CACHE_OUTCOME_STALE_HIT:
        return "the cache, stale";
    case NC_CACHE_OUTCOME_REVALIDATED:
        return "the cache, revalidated by the server";
    case NC_CACHE_OUTCOME_NETWORK:
        return "the network";
    default:
        return "nowhere";
    }
}

/// Sends one request and prints its result. Returns false if it failed.
static bool fetch(nc_client *client, const char *url) {
    nc_cache_policy policy = NC_CACHE_POLICY_INIT;
    nc_call_options options = {.cache = &policy};
    nc_request request = {.url = nc_slice_of(url), .accepts_codings = true};
    nc_call *call = NULL;
    nc_response *response = NULL;
    nc_error err;
    policy.stale_if_error_ms = 24 * 3600 * INT64_C(1000); // a day-old response is better than none
    nc_status status = nc_client_send(client, &request, &options, NULL, &call, &err);
    if (status == NC_OK) {
        status = nc_call_wait(call, NC_UNLIMITED, &response, &err);
    }
    if (status == NC_OK) {
        nc_call_cache report = nc_call_cache_report(call);
        printf("status %u from %s (%s), %zu attempts\n", nc_response_status(response), source_of(&report),
               nc_cache_reason_name(report.reason), nc_call_attempt_count(call));
    } else {
        fprintf(stderr, "%s: %s\n", nc_status_name(status), err.message);
    }
    nc_response_release(response);
    nc_call_release(call);
    return status == NC_OK;
}

int main(int argc, char **argv) {
    nc_store_options files = NC_STORE_OPTIONS_INIT;
    nc_retry_policy retry = NC_RETRY_POLICY_INIT;
    nc_store *store = NULL;
    nc_http_cache *cache = NULL;
    nc_engine *engine = NULL;
    nc_client *client = NULL;
    nc_error err = {.status = NC_OK};
    bool is_right = false;
    if (argc != 3) {
        fprintf(stderr, "usage: cached DIRECTORY URL\n");
        return 2;
    }
    files.directory = argv[1];
    if (nc_store_new(&store, &files, &err) == NC_OK &&
        nc_http_cache_new(&cache, &(nc_http_cache_options){.store = store}, &err) == NC_OK &&
        nc_engine_new(&engine, NULL, &err) == NC_OK &&
        nc_client_new(&client, engine, &(nc_client_options){.retry = &retry, .cache = cache}, &err) == NC_OK) {
        is_right = fetch(client, argv[2]) && fetch(client, argv[2]);
    } else {
        fprintf(stderr, "%s: %s\n", nc_status_name(err.status), err.message);
    }
    (void)nc_client_close(client);
    (void)nc_engine_close(engine, NC_UNLIMITED);
    nc_http_cache_free(cache);
    nc_store_free(store);
    return is_right ? 0 : 1;
}
