/// The Alt-Svc cache with fields and files from untrusted sources. A written file is read back to an equal cache.
/// Covers: http/alt_svc.c http/host_list.c
#include "input.h"

#include "http/alt_svc.h"

static const int64_t now_s = 1800000000;
enum { ANY = NC_ALT_HTTP_1_1 | NC_ALT_HTTP_2 | NC_ALT_HTTP_3 };

static nc_buf text_of(const nc_alt_svc *list) {
    nc_buf text = nc_buf_init(1 << 20);
    nc_alt_svc_write(list, &text, now_s);
    CHECK(nc_buf_status(&text) == NC_OK);
    return text;
}

static void check_round_trip(const nc_alt_svc *list) {
    nc_alt_svc again = {0};
    size_t line = 0;
    nc_buf first = text_of(list);
    CHECK(nc_alt_svc_read(&again, nc_buf_slice(&first), now_s, &line) == NC_OK);
    nc_buf second = text_of(&again);
    CHECK(nc_slice_is_equal(nc_buf_slice(&first), nc_buf_slice(&second)));
    nc_buf_deinit(&first);
    nc_buf_deinit(&second);
    nc_alt_svc_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_alt_svc list = {0};
    nc_alt_svc_endpoint origin;
    size_t line = 0;
    nc_slice host = input_piece(&in);
    nc_slice field = input_piece(&in);
    if (nc_alt_svc_endpoint_make(&origin, host, 443)) {
        bool has_changed = nc_alt_svc_record(&list, &origin, field, now_s);
        CHECK(has_changed == (list.count > 0) && list.count <= NC_ALT_SVC_MAX_EACH);
        CHECK(!nc_alt_svc_record(&list, &origin, field, now_s));
        const nc_alternative *one = nc_alt_svc_find(&list, &origin, ANY, now_s);
        CHECK((one != NULL) == has_changed);
        for (size_t i = 0; i < list.count; i++) {
            nc_alternative failed = *nc_alt_svc_at(&list, i);
            nc_alt_svc_avoid(&list, &failed, now_s);
        }
        CHECK(nc_alt_svc_find(&list, &origin, ANY, now_s) == NULL);
    }
    nc_status status = nc_alt_svc_read(&list, input_rest(&in), now_s, &line);
    CHECK(status == NC_OK || (status == NC_ERR_FILE && line > 0));
    CHECK(list.count <= NC_ALT_SVC_MAX_TOTAL);
    check_round_trip(&list);
    nc_alt_svc_deinit(&list);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
