/// The engine's cookie jar.
///
/// libcurl keeps cookies in a share, and each lane has one of its own, because shares also hold TLS sessions. What they
/// agree on is a text. Every lane in which something runs holds just what the text says, so that after a response has
/// changed its share, the share is the new text; the other running lanes are told at once, the rest before their next
/// hop. The text is under the engine's mutex, the rest is the loop's.
#ifndef NETCORE_PRIVATE_JAR_H
#define NETCORE_PRIVATE_JAR_H

#include "net/lane.h"
#include "net/saved_file.h"

typedef struct nc_jar {
    uint64_t version; // of the text; 0 is the empty jar that every lane begins with
    nc_buf text;      // Netscape lines; under the mutex
    nc_buf orders;    // what nc_engine_set_cookies() was given; under the mutex
    bool clears;      // and whether to begin with nothing; under the mutex
    bool is_taking;   // orders are on their way into the text; under the mutex
    nc_saved_file file;
} nc_jar;

void nc_jar_init(nc_jar *jar);
void nc_jar_deinit(nc_jar *jar);

/// Reads and checks the jar's file, if there is to be one; before the loop begins. A file that is missing is empty;
/// otherwise NC_ERR_FILE, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_jar_read(nc_engine *engine, nc_error *err);
/// Takes in what was read; on the loop thread, before anything else.
void nc_jar_load(nc_engine *engine);
/// Takes in what callers set.
void nc_jar_take_orders(nc_engine *engine);
/// Brings a lane's share up to the text. False when memory is short: it may then hold what was removed.
bool nc_jar_refresh(nc_lane *lane);
/// A response on this handle, or another one of its lane, set cookies.
void nc_jar_learn(nc_lane *lane, CURL *easy);
/// For requests that use the jar one way only, in a lane without one: fills a handle's own with what the engine's
/// holds. False when memory is short.
bool nc_jar_fill(nc_handle *handle);
/// A head begins on such a handle: what the answer sets is to meet what is there. False when memory is short.
bool nc_jar_begin_head(nc_handle *handle);
/// A head is whole on such a handle: takes in what it set and took back, if that is wanted, and forgets it there. What
/// others have changed since the head began stays.
void nc_jar_end_head(nc_handle *handle, bool has_set_some);
/// A response was refused: takes back what it set since the lane was last asked.
void nc_jar_forget(nc_lane *lane);
/// libcurl was called for a lane: takes in what it set meanwhile, before another lane's turn.
void nc_jar_settle(nc_lane *lane);

#endif
