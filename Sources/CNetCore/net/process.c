#include "net/process.h"

#include "base/error.h"
#include "base/thread.h"

#include <curl/curl.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <stdlib.h>

/// How long exit() waits for running event loops, in milliseconds.
enum { EXIT_GRACE_MS = 1000 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t loop_ended;
static nc_live_loop *live_loops;
static bool is_started;
static bool is_ending;

/// Stops the running event loops and waits for them, so that no thread uses libcurl or OpenSSL during exit. Without it
/// 65 of 150 programs that returned from main with TLS in flight crashed.
static void stop_live_loops(void) {
    pthread_mutex_lock(&mutex);
    is_ending = true;
    for (nc_live_loop *loop = live_loops; loop != NULL; loop = loop->next) {
        loop->stop(loop);
    }
    uint64_t deadline_ns = 0;
    while (live_loops != NULL && nc_condition_wait(&loop_ended, &mutex, EXIT_GRACE_MS, &deadline_ns)) {
    }
    pthread_mutex_unlock(&mutex);
}

/// A child has no event loops and no thread that would release their locks. Its exit must not wait for them, nor wake
/// those of its parent, whose descriptors it shares.
static void forget_loops(void) {
    live_loops = NULL;
    is_ending = false;
    (void)pthread_mutex_init(&mutex, NULL);
    is_started = nc_condition_init(&loop_ended);
}

static nc_status start(nc_error *err) {
    // libcurl may be shared with FoundationNetworking, so it is never cleaned up. OpenSSL must not clean up in its exit
    // handler while threads still use it. This must precede libcurl's initialization.
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL) != 1) {
        return nc_error_set(err, NC_ERR_INTERNAL, 0, -1, "OpenSSL does not start");
    }
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        nc_status status = code == CURLE_OUT_OF_MEMORY ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
        return nc_error_set(err, status, (int32_t)code, -1, "libcurl does not start: %s", curl_easy_strerror(code));
    }
    if (!nc_condition_init(&loop_ended)) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no condition variable");
    }
    if (atexit(stop_live_loops) != 0 || pthread_atfork(NULL, NULL, forget_loops) != 0) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no room for an exit handler");
    }
    return NC_OK;
}

nc_status nc_process_start(nc_error *err) {
    nc_status status = NC_OK;
    pthread_mutex_lock(&mutex);
    if (!is_started) {
        status = start(err);
        is_started = status == NC_OK;
    }
    pthread_mutex_unlock(&mutex);
    return status;
}

/// libcurl converts a host to ASCII by the character set of its thread's locale, which is only ASCII if a program sets
/// none. The rest of the locale stays the program's. Created and freed under the mutex: the C library shares tables
/// between locales, in an order that no sanitizer detects.
static locale_t make_letters(void) {
    locale_t own = duplocale(LC_GLOBAL_LOCALE);
    locale_t letters = own != (locale_t)0 ? newlocale(LC_CTYPE_MASK, "C.UTF-8", own) : (locale_t)0;
    if (letters == (locale_t)0 && own != (locale_t)0) {
        freelocale(own);
    }
    return letters;
}

bool nc_process_add_loop(nc_live_loop *loop) {
    pthread_mutex_lock(&mutex);
    bool may_start = !is_ending;
    if (may_start) {
        loop->letters = make_letters();
        loop->next = live_loops;
        loop->link = &live_loops;
        if (live_loops != NULL) {
            live_loops->link = &loop->next;
        }
        live_loops = loop;
    }
    pthread_mutex_unlock(&mutex);
    return may_start;
}

void nc_process_remove_loop(nc_live_loop *loop) {
    // exit() continues as soon as the mutex is free, so this thread must have released OpenSSL's state.
    OPENSSL_thread_stop();
    pthread_mutex_lock(&mutex);
    if (loop->letters != (locale_t)0) {
        freelocale(loop->letters);
    }
    *loop->link = loop->next;
    if (loop->next != NULL) {
        loop->next->link = loop->link;
    }
    pthread_cond_broadcast(&loop_ended);
    pthread_mutex_unlock(&mutex);
}
