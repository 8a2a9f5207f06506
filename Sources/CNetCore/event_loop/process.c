#include "event_loop/process.h"

#include "base/error.h"
#include "base/thread.h"

#include <curl/curl.h>
#include <dirent.h>
#include <openssl/crypto.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

/// EXIT_GRACE_MS limits how long exit() waits for running event loops. MAX_YIELDS limits how often clean_openssl()
/// yields until the kernel no longer lists a joined thread.
enum { EXIT_GRACE_MS = 1000, MAX_YIELDS = 200 };

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t loop_ended;
static nc_live_loop *live_loops;
static bool is_started;
static bool is_ending;
static bool is_child; // a child after fork(2) of a process that had started engines

/// Stops the running event loops and waits for them, so that no thread uses libcurl or OpenSSL during exit. Without
/// this handler, 65 of 150 test programs that returned from main() during TLS transfers crashed.
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

/// Returns the number of the process's threads, or 0 if it is unknown.
static unsigned count_threads(void) {
    unsigned count = 0;
    DIR *directory = opendir("/proc/self/task");
    if (directory == NULL) {
        return 0;
    }
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        count += entry->d_name[0] != '.';
    }
    (void)closedir(directory);
    return count;
}

/// Frees OpenSSL's global memory, so that leak checkers report nothing. Runs after all exit handlers, because they may
/// use OpenSSL. For the same reason it does nothing if another thread runs, or in a child after fork(2), where a thread
/// of the parent may have held OpenSSL's locks.
__attribute__((destructor(101))) static void clean_openssl(void) {
    if (!is_ending || is_child || live_loops != NULL) {
        return;
    }
    unsigned count = count_threads();
    for (int i = 0; count > 1 && i < MAX_YIELDS; i++) {
        (void)sched_yield();
        count = count_threads();
    }
    if (count == 1) {
        OPENSSL_cleanup();
    }
}

/// Called in the child after fork(2). A child has no event loops, and no thread that would release their locks. Its
/// exit must not wait for the parent's loops, nor wake them by the shared descriptors.
static void forget_loops(void) {
    live_loops = NULL;
    is_ending = false;
    is_child = true;
    (void)pthread_mutex_init(&mutex, NULL);
    is_started = nc_condition_init(&loop_ended);
}

static nc_status start(nc_error *err) {
    // libcurl is never cleaned up, because FoundationNetworking may use it too. OpenSSL must not clean up at exit,
    // while threads may still use it. That is determined by its first initialization, so this call must precede
    // libcurl's.
    if (OPENSSL_init_crypto(OPENSSL_INIT_NO_ATEXIT, NULL) != 1) {
        return nc_error_set(err, NC_ERR_INTERNAL, 0, -1, "cannot initialize OpenSSL");
    }
    CURLcode code = curl_global_init(CURL_GLOBAL_DEFAULT);
    if (code != CURLE_OK) {
        nc_status status = code == CURLE_OUT_OF_MEMORY ? NC_ERR_NO_MEMORY : NC_ERR_INTERNAL;
        return nc_error_set(err, status, (int32_t)code, -1, "cannot initialize libcurl: %s", curl_easy_strerror(code));
    }
    if (!nc_condition_init(&loop_ended)) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "cannot create a condition variable");
    }
    if (atexit(stop_live_loops) != 0 || pthread_atfork(NULL, NULL, forget_loops) != 0) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "cannot register an exit handler");
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

/// Creates the program's locale with the character set UTF-8; zero on failure. libcurl needs it to convert an
/// international host name, because it uses the character set of the thread's locale, which is ASCII in a program that
/// sets no locale. Locales are created and freed under the mutex: the C library shares tables between them, which
/// thread sanitizers report as races.
static locale_t make_utf8_locale(void) {
    locale_t program_locale = duplocale(LC_GLOBAL_LOCALE);
    locale_t locale = program_locale != (locale_t)0 ? newlocale(LC_CTYPE_MASK, "C.UTF-8", program_locale) : (locale_t)0;
    if (locale == (locale_t)0 && program_locale != (locale_t)0) {
        freelocale(program_locale);
    }
    return locale;
}

bool nc_process_add_loop(nc_live_loop *loop) {
    pthread_mutex_lock(&mutex);
    bool may_start = !is_ending;
    if (may_start) {
        loop->locale = make_utf8_locale();
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
    // exit() may continue when the mutex is released below, so this thread must free its OpenSSL state first.
    OPENSSL_thread_stop();
    pthread_mutex_lock(&mutex);
    if (loop->locale != (locale_t)0) {
        freelocale(loop->locale);
    }
    *loop->link = loop->next;
    if (loop->next != NULL) {
        loop->next->link = loop->link;
    }
    pthread_cond_broadcast(&loop_ended);
    pthread_mutex_unlock(&mutex);
}
