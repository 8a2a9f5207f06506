/// Covers: trust/pattern.c
///
/// The hosts that a pattern matches, compared with a matcher that goes label by label from the right. The order of
/// patterns must be consistent. Input: a port (two bytes), a pattern, a second pattern, a host.
#include "input.h"

#include "trust/pattern.h"

#include <string.h>

/// Takes the last label off a name. Returns false if none is left.
static bool take_label(nc_slice *name, nc_slice *label) {
    if (name->length == 0) {
        return false;
    }
    size_t at = name->length;
    while (at > 0 && name->data[at - 1] != '.') {
        at--;
    }
    *label = nc_slice_make(name->data + at, name->length - at);
    *name = nc_slice_make(name->data, at > 0 ? at - 1 : 0);
    return true;
}

static bool covers_by_labels(const nc_pattern *pattern, const nc_host_name *host) {
    nc_slice name = nc_slice_make(host->text, host->length);
    nc_slice base = nc_slice_make(pattern->host.text, pattern->host.length);
    nc_slice label;
    nc_slice wanted;
    if (pattern->kind == NC_PATTERN_EVERY) {
        return true;
    }
    if (host->is_address && strncmp(host->text, "::ffff:", 7) == 0 && strchr(host->text, '.') != NULL) {
        name = nc_slice_of(host->text + 7); // a pattern for IPv4 also covers the mapped address
    }
    if (host->is_address || pattern->host.is_address) {
        return pattern->kind == NC_PATTERN_EXACT && host->is_address == pattern->host.is_address &&
               nc_slice_is_equal(name, base);
    }
    while (take_label(&base, &wanted)) {
        if (!take_label(&name, &label) || !nc_slice_is_equal(label, wanted)) {
            return false;
        }
    }
    size_t left = 0;
    while (take_label(&name, &label)) {
        left++;
    }
    return pattern->kind == NC_PATTERN_EXACT ? left == 0 : pattern->kind == NC_PATTERN_ONE_LABEL ? left == 1 : true;
}

static void check_host(const nc_host_name *host) {
    nc_host_name again;
    CHECK(host->length > 0 && host->length <= NC_HOST_MAX_BYTES && strlen(host->text) == host->length);
    CHECK(strpbrk(host->text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ*/@[] ") == NULL);
    // The normalized form is stable.
    CHECK(nc_host_name_parse(&again, nc_slice_of(host->text)));
    CHECK(again.length == host->length && memcmp(again.text, host->text, host->length) == 0);
    CHECK(again.is_address == host->is_address);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    uint16_t port = (uint16_t)input_number(&in);
    nc_slice texts[2] = {input_piece(&in), input_piece(&in)};
    nc_slice host_text = input_rest(&in);
    nc_pattern patterns[2];
    bool is_parsed[2];
    nc_host_name host;
    for (size_t i = 0; i < 2; i++) {
        nc_error err;
        nc_status status = nc_pattern_parse(&patterns[i], texts[i], &err);
        is_parsed[i] = status == NC_OK;
        CHECK(is_parsed[i] || status == NC_ERR_BAD_PIN);
        if (!is_parsed[i]) {
            check_error(&err, status, size);
        } else if (patterns[i].kind != NC_PATTERN_EVERY) {
            check_host(&patterns[i].host);
        }
    }
    if (nc_host_name_parse(&host, host_text)) {
        check_host(&host);
        for (size_t i = 0; i < 2; i++) {
            if (is_parsed[i]) {
                bool is_port = port == 0 || patterns[i].port == 0 || patterns[i].port == port;
                CHECK(nc_pattern_covers(&patterns[i], &host, port) ==
                      (is_port && covers_by_labels(&patterns[i], &host)));
            }
        }
    }
    if (is_parsed[0] && is_parsed[1]) {
        int order = nc_pattern_compare(&patterns[0], &patterns[1]);
        int reverse = nc_pattern_compare(&patterns[1], &patterns[0]);
        CHECK((order < 0) == (reverse > 0) && (order == 0) == (reverse == 0));
        CHECK(nc_pattern_compare(&patterns[0], &patterns[0]) == 0);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
