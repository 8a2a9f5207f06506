/// Loads the shared library as a plug-in, uses an engine, and closes both. Usage: closed LIBRARY
#include <dlfcn.h>
#include <netcore.h>
#include <stdio.h>

typedef nc_status (*new_fn)(nc_engine **out, const nc_engine_options *options, nc_error *err);
typedef nc_status (*close_fn)(nc_engine *engine, uint32_t timeout_ms);

static int fail(const char *what) {
    (void)fprintf(stderr, "closed: %s\n", what);
    return 1;
}

int main(int count, char **words) {
    nc_engine *engine = NULL;
    void *library = count == 2 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library == NULL) {
        return fail("no library");
    }
    new_fn make = (new_fn)dlsym(library, "nc_engine_new");
    close_fn end = (close_fn)dlsym(library, "nc_engine_close");
    if (make == NULL || end == NULL || make(&engine, NULL, NULL) != NC_OK || end(engine, NC_UNLIMITED) != NC_OK) {
        return fail("no engine");
    }
    // The thread of a released engine may still run the library's code.
    (void)dlclose(library);
    return dlopen(words[1], RTLD_NOW | RTLD_NOLOAD) != NULL
               ? 0
               : fail("the library is gone, and its threads' code with it");
}
