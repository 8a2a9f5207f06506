/// Blocking downloads into a temporary directory.
///
///     fetching on;
///     fetching_start(&on);
///     fetching_script(&on, (nct_reply){.headers = "ETag: \"1\"\r\n", .pattern_length = 1000, .answers_ranges = true});
///     fetched got = fetch(&on, &(nc_download_options){.path = …});
///     fetching_stop(&on);
#ifndef NETCORE_TEST_FETCHED_H
#define NETCORE_TEST_FETCHED_H

#include "faulty.h"
#include "fixture.h"
#include "gate.h"

#include <netcore/download.h>

/// The result of a download.
typedef struct fetched {
    nc_error error;
    char path[600];
    char partial[600];
    uint64_t byte_count;
    uint64_t resumed_bytes;
    unsigned status;
    char body[256];
    bool was_resumed; // on_resumed was called
    uint64_t offset;  // its argument
    uint64_t total;
    unsigned heads;
    unsigned tellings;
    nc_download_progress last; // the last argument of on_progress
} fetched;

typedef struct fetching {
    fixture f;
    temp_directory at;
    char file[160];     // a path in the directory
    char partial[170];  // path of the partial file
    char record[180];   // path of its record
    const char *path;   // of the URL; "/file" by default
    const char *placed; // the result of on_destination
    bool is_stopping_at_head;
    fetched now;
    gate done;
    gate head;  // opened by each head
    gate moved; // opened by each on_progress
    nc_download_id id;
} fetching;

void fetching_start(fetching *on);
void fetching_start_with(fetching *on, const nc_engine_options *options);
/// Starts a server and an engine with these options.
void fetching_start_at(fetching *on, const nct_server_options *server, const nc_engine_options *options);
void fetching_stop(fetching *on);
/// Scripts "/file".
void fetching_script(fetching *on, nct_reply reply);
/// Scripts "/file" with a sequence of replies.
void fetching_script_row(fetching *on, const nct_reply *replies, size_t count);

/// Returns the sink that writes to on->now.
nc_download_sink fetch_sink(fetching *on);
/// Starts a download of on->path. The defaults are the path on->file and a plain request.
void fetch_begin(fetching *on, const nc_download_options *options);
/// Starts a download whose reply stalls after its beginning, until nct_server_release_stalled().
void fetch_begin_stalled(fetching *on, nct_reply whole, const nc_download_options *options);
/// Waits for the download.
fetched fetch_end(fetching *on);
/// Starts a download and waits for it.
fetched fetch(fetching *on, const nc_download_options *options);

/// Returns true if a file exists at the path.
bool fetch_exists(const char *path);
/// Fails unless the file is the server's pattern of this length.
void assert_pattern(const char *path, size_t length);
/// Fails unless the file has exactly these bytes.
void assert_file(const char *path, nc_slice bytes);
/// Fails unless the download ended with this status.
#define assert_fetched(one, wanted)                                                                                    \
    do {                                                                                                               \
        if ((one).error.status != (wanted)) {                                                                          \
            fail_msg("ended with %s: %s", nc_status_name((one).error.status), (one).error.message);                    \
        }                                                                                                              \
    } while (0)

#endif
