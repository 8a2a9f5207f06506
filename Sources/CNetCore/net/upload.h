/// The request body on its way to libcurl: from memory, a file, or a source that is asked piece by piece.
/// Confined to the loop thread.
#ifndef NETCORE_PRIVATE_UPLOAD_H
#define NETCORE_PRIVATE_UPLOAD_H

#include <netcore/engine.h>
#include <stdatomic.h>

typedef struct nc_transfer nc_transfer;

typedef struct nc_upload {
    uint64_t length; // NC_LENGTH_UNKNOWN
    atomic_ullong sent;
    int fd;         // of a file; -1
    bool has_begun; // bytes were asked for since the last rewind
    bool is_over;   // the source said so
    bool has_last;  // all that was announced has come, and its last byte waits for the source's word that it is the end
    uint8_t last;   // that byte
} nc_upload;

/// Reads the next piece, for CURLOPT_READFUNCTION: a number of bytes, CURL_READFUNC_PAUSE or CURL_READFUNC_ABORT.
size_t nc_upload_read(nc_transfer *transfer, uint8_t *bytes, size_t capacity);
/// Whether the body can be sent from its first byte on: nothing was read of it yet, or it can be read again.
bool nc_upload_can_begin(const nc_transfer *transfer);
/// Goes to a byte of the body; only the first one in a source. False when that cannot be.
bool nc_upload_seek(nc_transfer *transfer, uint64_t offset);
/// Gets ready for a hop: back to the first byte. False when that cannot be.
bool nc_upload_begin_hop(nc_transfer *transfer);

#endif
