#include <netcore/method.h>

bool nc_method_is_safe(nc_slice method) {
    static const char *const methods[] = {"", "GET", "HEAD", "OPTIONS", "TRACE", "QUERY"};
    for (size_t i = 0; i < sizeof methods / sizeof methods[0]; i++) {
        if (nc_slice_is_equal(method, nc_slice_of(methods[i]))) {
            return true;
        }
    }
    return false;
}

bool nc_method_is_idempotent(nc_slice method) {
    return nc_method_is_safe(method) || nc_slice_is_equal(method, nc_slice_of("PUT")) ||
           nc_slice_is_equal(method, nc_slice_of("DELETE"));
}
