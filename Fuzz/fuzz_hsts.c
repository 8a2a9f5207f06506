/// The HSTS cache with fields and files from untrusted sources. A written file is read back to an equal cache.
/// Covers: http/hsts.c
#include "input.h"

#include "http/hsts.h"

#include <string.h>

static const int64_t now_s = 1800000000;

static nc_buf text_of(const nc_hsts *list) {
    nc_buf text = nc_buf_init(1 << 20);
    nc_hsts_write(list, &text, now_s);
    CHECK(nc_buf_status(&text) == NC_OK);
    return text;
}

static void check_round_trip(const nc_hsts *list) {
    nc_hsts again = {0};
    size_t line = 0;
    nc_buf first = text_of(list);
    CHECK(nc_hsts_read(&again, nc_buf_slice(&first), now_s, &line) == NC_OK);
    nc_buf second = text_of(&again);
    CHECK(nc_slice_is_equal(nc_buf_slice(&first), nc_buf_slice(&second)));
    nc_buf_deinit(&first);
    nc_buf_deinit(&second);
    nc_hsts_deinit(&again);
}

static void check_upgrade(nc_slice host) {
    nc_buf plain = nc_buf_init(1 << 20);
    nc_buf secure = nc_buf_init(1 << 20);
    nc_buf_append(&plain, nc_slice_of("http://"));
    nc_buf_append(&plain, host);
    nc_hsts_upgrade(&secure, nc_buf_slice(&plain));
    CHECK(nc_buf_status(&secure) == NC_OK && memcmp(secure.data, "https://", 8) == 0);
    CHECK(secure.length <= plain.length + 1); // Port 80 is omitted in every spelling.
    nc_buf_deinit(&plain);
    nc_buf_deinit(&secure);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_hsts list = {0};
    size_t line = 0;
    nc_slice host = input_piece(&in);
    nc_slice field = input_piece(&in);
    bool has_changed = nc_hsts_record(&list, host, field, now_s);
    CHECK(has_changed == nc_hsts_covers(&list, host, now_s) && has_changed == (list.count == 1));
    check_upgrade(host);
    nc_slice text = input_rest(&in);
    nc_status status = nc_hsts_read(&list, text, now_s, &line);
    CHECK(status == NC_OK || (status == NC_ERR_FILE && line > 0));
    CHECK(list.count <= NC_HSTS_MAX_HOSTS);
    check_round_trip(&list);
    nc_hsts_deinit(&list);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
