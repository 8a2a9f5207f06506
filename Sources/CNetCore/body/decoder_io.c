#include "body/decoder_io.h"

#include "base/error.h"

#include <dlfcn.h>
#include <string.h>

void nc_decoder_advance(nc_decoder_io *io, size_t read, size_t written) {
    // The data of an empty slice may be NULL, and NULL + 0 is undefined behaviour.
    if (read != 0) {
        io->in = nc_slice_make(io->in.data + read, io->in.length - read);
    }
    io->out += written;
    io->room -= written;
}

uint8_t nc_decoder_take(nc_decoder_io *io) {
    NC_ASSERT(io->in.length != 0);
    uint8_t byte = io->in.data[0];
    nc_decoder_advance(io, 1, 0);
    return byte;
}

nc_status nc_decoder_fail_surplus(const char *name, nc_error *err) {
    return nc_error_set(err, NC_ERR_BAD_CODING, 0, -1, "bytes follow the end of the %s body", name);
}

bool nc_decoder_find(void *function, const char *symbol) {
    void *address = dlsym(RTLD_DEFAULT, symbol);
    // ISO C has no conversion from an object pointer to a function pointer. POSIX guarantees the same representation.
    memcpy(function, &address, sizeof address);
    return address != NULL;
}
