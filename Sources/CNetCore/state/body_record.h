/// The records of a transfer's bodies: flow control, the body pipeline, the upload, and progress.
///
/// Event loop thread only.
#ifndef NETCORE_PRIVATE_BODY_RECORD_H
#define NETCORE_PRIVATE_BODY_RECORD_H

#include "base/list.h"
#include "body/chunked.h"
#include "body/coding.h"
#include "event_loop/timers.h"
#include "http/rate_limit.h"

#include <curl/curl.h>
#include <netcore/bytes.h>
#include <netcore/transfers.h>
#include <stdatomic.h>

typedef struct nc_transfer nc_transfer;

/// Reasons to pause a direction, besides those of nc_pause_reason.
enum {
    NC_PAUSE_RATE = 8,      // a rate limit
    NC_PAUSE_DECODER = 16,  // the decoder has used its turn; it continues in the next round
    NC_PAUSE_INTENDED = 15, // every nc_pause_reason and NC_PAUSE_RATE: a pause on purpose, so the peer is not slow
    NC_PAUSE_READER = 3,    // NC_PAUSE_EXPLICIT and NC_PAUSE_CALLBACK
};

typedef struct nc_flow_control {
    uint8_t receive_pauses;
    uint8_t send_pauses;
    int pause_mask;     // CURLPAUSE_* bits last passed to curl_easy_pause()
    bool has_timer;     // `timer` was initialized
    bool is_hop_done;   // libcurl has finished the hop, and the body pipeline has not
    bool discards_rest; // the hop has ended, and bytes that libcurl still delivers are dropped
    CURLcode code;      // libcurl's result if `is_hop_done`
    nc_timer timer;     // fires when a rate allows bytes again
    nc_pace send_pace;
    nc_pace receive_pace;
    nc_link turn_link; // in the list of decoders that continue in the next round
} nc_flow_control;

typedef struct nc_body_pipeline {
    bool is_chunked;
    nc_chunked chunked;
    nc_buf pending; // bytes that arrived after the byte at which the reader paused
    size_t pending_at;
    nc_coding *coding; // NULL without a coding
} nc_body_pipeline;

/// The write buffer for bodies that are saved to files.
///
/// libcurl delivers pieces of 16 KiB, and one large write costs less than many small ones. The buffer holds bytes only
/// while libcurl or a decoder runs.
typedef struct nc_write_buffer {
    nc_transfer *transfer; // the owner of the buffered bytes; NULL if empty
    uint8_t *bytes;        // NULL until needed
    size_t length;
    bool has_failed;
} nc_write_buffer;

typedef struct nc_upload {
    uint64_t length; // NC_LENGTH_UNKNOWN
    atomic_ullong sent;
    int fd;                 // the file that the body is read from, or -1
    bool has_begun;         // bytes were read since the last seek
    bool has_source_ended;  // the source has ended
    bool holds_last_byte;   // all announced bytes were read, and the last one is kept until the source ends
    uint8_t last_byte;      // the kept byte
    nc_buf trailer_lines;   // "Name: value" and a NUL of each trailer that is ready
    uint32_t trailer_count; // trailers that are ready or omitted
    bool has_trailers;      // all trailers are ready, and libcurl has the whole body
} nc_upload;

typedef struct nc_progress_state {
    uint64_t notified_ns; // time of the last callback
    nc_speed speed;
} nc_progress_state;

#endif
