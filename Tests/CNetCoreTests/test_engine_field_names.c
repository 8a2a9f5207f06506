/// Field names that are malformed: the line alone is lost, and counted, unless the request is strict.
#include "fixture.h"

#include <curl/curl.h>

static void engine__a_malformed_field_name_is_dropped_and_counted_or_rejected_in_strict_mode(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    fixture_script_raw(&f, "/",
                       "HTTP/1.1 200 OK\r\nA: b\r\nX Foo: bar\r\nSet-Cookie : c=d\r\nE: f\r\n"
                       "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX Sum: 1\r\nSum: 2\r\n\r\n");
    answer one = fixture_get(&f, "/");
    assert_response(one, 200, "hi");
    assert_int_equal(nc_response_header_count(one.response), 3);
    assert_field(one, "A", "b");
    assert_field(one, "E", "f");
    assert_int_equal(nc_response_trailer_count(one.response), 1);
    assert_int_equal(nc_response_hop_at(one.response, 0).dropped_fields, 3);
    nc_request request = fixture_request(&f, "/");
    request.refuses_malformed_fields = true;
    assert_ended(fixture_send(&f, &request), NC_ERR_BAD_RESPONSE, CURLE_WEIRD_SERVER_REPLY,
                 "head is not a header field");
    fixture_script_raw(&f, "/good", "HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\n\r\nhi");
    request.url = nc_slice_of(fixture_url(&f, "/good"));
    one = fixture_send(&f, &request);
    assert_response(one, 200, "hi");
    assert_int_equal(nc_response_hop_at(one.response, 0).dropped_fields, 0);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__a_malformed_field_name_is_dropped_and_counted_or_rejected_in_strict_mode),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
