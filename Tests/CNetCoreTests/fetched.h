/// Downloads that are waited for, into a directory of their own.
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

/// How a download ended.
typedef struct fetched {
    nc_error error;
    char path[600];
    char partial[600];
    uint64_t byte_count;
    uint64_t resumed_bytes;
    unsigned status;
    char body[256];
    bool was_resumed; // on_resumed came
    uint64_t offset;  // what it said
    uint64_t total;
    unsigned heads;
    unsigned tellings;
    nc_download_progress last; // what on_progress said last
} fetched;

typedef struct fetching {
    fixture f;
    place at;
    char file[160];     // a path in it
    char partial[170];  // the partial's
    char record[180];   // and its record's
    const char *path;   // of the URL; "/file" unless a case says otherwise
    const char *placed; // the answer to on_destination
    bool is_stopping_at_head;
    fetched now;
    gate done;
    gate head;  // opened by each head
    gate moved; // opened by each on_progress
    nc_download_id id;
} fetching;

void fetching_start(fetching *on);
void fetching_start_with(fetching *on, const nc_engine_options *options);
/// With a server of one's own too.
void fetching_start_at(fetching *on, const nct_server_options *server, const nc_engine_options *options);
void fetching_stop(fetching *on);
/// Scripts "/file".
void fetching_script(fetching *on, nct_reply reply);
/// Scripts "/file", one reply after the other.
void fetching_script_row(fetching *on, const nct_reply *replies, size_t count);

/// The sink that writes to on->now.
nc_download_sink fetch_sink(fetching *on);
/// Starts a download of on->path; with no path among the options to on->file, with no request a plain one.
void fetch_begin(fetching *on, const nc_download_options *options);
/// Starts one that gets the beginning of a reply to on->path, and no more before nct_server_release_stalled().
void fetch_begin_stalled(fetching *on, nct_reply whole, const nc_download_options *options);
/// Waits for it.
fetched fetch_end(fetching *on);
/// Both.
fetched fetch(fetching *on, const nc_download_options *options);

/// Whether there is anything at a path.
bool fetch_exists(const char *path);
/// Fails unless a file is the server's pattern of this length.
void assert_pattern(const char *path, size_t length);
/// Fails unless a file holds these bytes.
void assert_file(const char *path, nc_slice bytes);
/// Fails unless it ended so.
#define assert_fetched(one, wanted)                                                                                    \
    do {                                                                                                               \
        if ((one).error.status != (wanted)) {                                                                          \
            fail_msg("ended with %s: %s", nc_status_name((one).error.status), (one).error.message);                    \
        }                                                                                                              \
    } while (0)

#endif
