/// The properties of request methods.
#include "harness.h"

#include <netcore/method.h>

static void assert_properties(const char *method, bool is_safe, bool is_idempotent) {
    if (nc_method_is_safe(nc_slice_of(method)) != is_safe ||
        nc_method_is_idempotent(nc_slice_of(method)) != is_idempotent) {
        fail_msg("'%s' has other properties", method);
    }
}

static void method__safe_methods_are_also_idempotent(void **state) {
    (void)state;
    static const char *const methods[] = {"", "GET", "HEAD", "OPTIONS", "TRACE", "QUERY"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        assert_properties(methods[i], true, true);
    }
}

static void method__put_and_delete_are_idempotent_and_not_safe(void **state) {
    (void)state;
    assert_properties("PUT", false, true);
    assert_properties("DELETE", false, true);
}

static void method__other_methods_have_neither_property(void **state) {
    (void)state;
    static const char *const methods[] = {"POST", "PATCH", "CONNECT", "get", "Put", "GETS", "GE", "PROPFIND"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        assert_properties(methods[i], false, false);
    }
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(method__safe_methods_are_also_idempotent),
        harness_case(method__put_and_delete_are_idempotent_and_not_safe),
        harness_case(method__other_methods_have_neither_property),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
