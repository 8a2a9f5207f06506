#include "schema/regex_program.h"

#include "base/alloc.h"

static nc_regex regex_empty(void) {
    const size_t max_bytes = (size_t)1 << 24;
    return (nc_regex){
        .steps = nc_buf_init(max_bytes), .classes = nc_buf_init(max_bytes), .ranges = nc_buf_init(max_bytes)};
}

static void regex_deinit(nc_regex *regex) {
    nc_buf_deinit(&regex->steps);
    nc_buf_deinit(&regex->classes);
    nc_buf_deinit(&regex->ranges);
}

nc_status nc_regex_compile(nc_regex **out, nc_slice pattern, char reason[NC_REGEX_REASON_BYTES]) {
    nc_regex *regex = nc_alloc(sizeof *regex);
    reason[0] = '\0';
    if (regex == NULL) {
        return NC_ERR_NO_MEMORY;
    }
    *regex = regex_empty();
    nc_status status = nc_regex_parse(regex, pattern, false, reason);
    if (status != NC_OK) {
        nc_regex_free(regex);
        return status;
    }
    *out = regex;
    return NC_OK;
}

void nc_regex_free(nc_regex *regex) {
    if (regex != NULL) {
        regex_deinit(regex);
        nc_free(regex);
    }
}

bool nc_regex_is_valid(nc_slice pattern) {
    char reason[NC_REGEX_REASON_BYTES];
    nc_regex regex = regex_empty();
    nc_status status = nc_regex_parse(&regex, pattern, true, reason);
    regex_deinit(&regex);
    return status != NC_ERR_BAD_SHAPE;
}
