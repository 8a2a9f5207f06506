#include "http/public_suffix.h"

#include "http/host.h"

#include <libpsl.h>
#include <string.h>

/// Copies a name, NUL-terminated. Returns false for addresses and for a name that is too long.
static bool copy_name(char out[NC_HOST_MAX_BYTES + 1], nc_slice host) {
    if (host.length == 0 || host.length > NC_HOST_MAX_BYTES || nc_host_kind_of(host) != NC_HOST_NAME) {
        return false;
    }
    memcpy(out, host.data, host.length);
    out[host.length] = '\0';
    return true;
}

/// Without a built-in list libpsl knows no suffix of two labels. One label is always a suffix.
static bool is_suffix(const char *name) {
    const psl_ctx_t *list = psl_builtin();
    return strchr(name, '.') == NULL || (list != NULL && psl_is_public_suffix(list, name) != 0);
}

bool nc_is_public_suffix(nc_slice host) {
    char name[NC_HOST_MAX_BYTES + 1];
    return copy_name(name, host) && is_suffix(name);
}

bool nc_is_registry_suffix(nc_slice host) {
    char name[NC_HOST_MAX_BYTES + 1];
    const psl_ctx_t *list = psl_builtin();
    return copy_name(name, host) &&
           (strchr(name, '.') == NULL || (list != NULL && psl_is_public_suffix2(list, name, PSL_TYPE_ICANN) != 0));
}

nc_slice nc_registrable_domain(nc_slice host) {
    char name[NC_HOST_MAX_BYTES + 1];
    if (!copy_name(name, host) || is_suffix(name)) {
        return host;
    }
    const psl_ctx_t *list = psl_builtin();
    const char *found = list != NULL ? psl_registrable_domain(list, name) : NULL;
    if (found == NULL && list == NULL) {
        const char *dot = strrchr(name, '.');
        for (found = dot; found > name && found[-1] != '.'; found--) {
        }
    }
    if (found == NULL) {
        return host;
    }
    size_t before = (size_t)(found - name);
    return nc_slice_make(host.data + before, host.length - before);
}
