/// Fetches JSON as a tree of cJSON, compares it with a shape, changes it, and sends it back.
///
/// usage: tree URL. Prints each name, and the status of the response.
#include <netcore.hpp>
#include <netcore/cjson.h>

#include <cstdio>
#include <exception>
#include <memory>

struct tree_deleter {
    void operator()(cJSON *tree) const noexcept { cJSON_Delete(tree); }
};
using tree_owner = std::unique_ptr<cJSON, tree_deleter>;

static tree_owner tree_of(const netcore::response &response) {
    cJSON *tree = nullptr;
    nc_error err;
    netcore::check(nc_cjson_body(response.get(), nullptr, &tree, &err), err);
    return tree_owner(tree);
}

static std::string text_of(const cJSON *tree) {
    nc_buf buffer = nc_buf_init(1 << 20);
    nc_error err;
    const nc_status status = nc_cjson_write(&buffer, tree, &err);
    std::string text(netcore::text(nc_buf_slice(&buffer)));
    nc_buf_deinit(&buffer);
    netcore::check(status, err);
    return text;
}

static unsigned send(netcore::engine &engine, std::string_view url, std::string_view body) {
    const nc_header type = {nc_slice_of("Content-Type"), nc_slice_of("application/json")};
    nc_request request = {};
    request.method = nc_slice_of("POST");
    request.url = netcore::view(url);
    request.headers = &type;
    request.header_count = 1;
    request.body = netcore::view(body);
    return engine.fetch(request).status();
}

int main(int argc, char **argv) {
    try {
        const std::string_view url = argc > 1 ? argv[1] : "http://127.0.0.1:8080/cities";
        netcore::engine engine;
        const tree_owner tree = tree_of(engine.fetch(url));
        const netcore::shape cities(R"([{"name": "string"}])");
        nc_error err;
        netcore::check(nc_cjson_matches(tree.get(), cities.get(), nullptr, &err), err);
        const cJSON *city = nullptr;
        cJSON_ArrayForEach(city, tree.get()) {
            std::puts(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(city, "name")));
        }
        cJSON_AddItemToArray(tree.get(), cJSON_CreateObject());
        const std::string text = text_of(tree.get());
        std::printf("sent %zu bytes: %u\n", text.size(), send(engine, url, text));
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 1;
    }
    return 0;
}
