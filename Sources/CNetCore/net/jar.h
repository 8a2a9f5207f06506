/// The engine's cookie jar.
///
/// libcurl keeps cookies in a share, and each lane has one of its own, because shares also hold TLS sessions. What they
/// agree on is a text: a lane that learnt a cookie writes it anew, and each other lane reads it before its next hop.
/// The text is under the engine's mutex, the rest is the loop's.
#ifndef NETCORE_PRIVATE_JAR_H
#define NETCORE_PRIVATE_JAR_H

#include "base/worker.h"
#include "net/lane.h"

typedef struct nc_jar {
    uint64_t version; // of the text; 0 is the empty jar that every lane begins with
    nc_buf text;      // Netscape lines; under the mutex
    nc_buf orders;    // what nc_engine_set_cookies() was given; under the mutex
    bool clears;      // and whether to begin with nothing; under the mutex
    bool is_saving;
    bool has_failed;  // to save, the last time
    bool has_changed; // since it was last saved
    nc_work work;
    nc_answer answer;
    nc_buf saving; // the worker's copy
} nc_jar;

void nc_jar_init(nc_jar *jar);
void nc_jar_deinit(nc_jar *jar);

/// Reads the jar's file; on the loop thread, before anything else.
void nc_jar_load(nc_engine *engine);
/// Takes in what callers set.
void nc_jar_take_orders(nc_engine *engine);
/// Brings a lane's share up to the text.
void nc_jar_refresh(nc_lane *lane);
/// A response on this handle set cookies.
void nc_jar_learn(nc_lane *lane, CURL *easy);
/// Saves what is not saved yet, here and now: the loop ends, and no worker is left.
void nc_jar_save_at_end(nc_engine *engine);

#endif
