/// The source of the request body: memory, a file, or a callback that is called piece by piece. Event loop thread only.
#ifndef NETCORE_PRIVATE_UPLOAD_H
#define NETCORE_PRIVATE_UPLOAD_H

#include <netcore/engine.h>
#include <stdatomic.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_upload {
    uint64_t length; // NC_LENGTH_UNKNOWN
    atomic_ullong sent;
    int fd;         // of a file, or -1
    bool has_begun; // bytes were read since the last rewind
    bool is_over;   // the source has ended
    bool has_last;  // all announced bytes have arrived, and the last one waits for the source's end
    uint8_t last;   // that byte
} nc_upload;

/// Reads the next piece, for CURLOPT_READFUNCTION. Returns a number of bytes, CURL_READFUNC_PAUSE or
/// CURL_READFUNC_ABORT.
size_t nc_upload_read(nc_transfer *transfer, uint8_t *bytes, size_t capacity);
/// Returns true if the body can be sent from its first byte: nothing was read yet, or it can be read again.
bool nc_upload_can_begin(const nc_transfer *transfer);
/// Seeks to a byte of the body; in a source only to the first one. Returns false if that is impossible.
bool nc_upload_seek(nc_transfer *transfer, uint64_t offset);
/// Prepares for a hop: seeks to the first byte. Returns false if that is impossible.
bool nc_upload_begin_hop(nc_transfer *transfer);

#endif
