#include "base/alloc.h"
#include "base/error.h"
#include "base/thread.h"
#include "reachability/path_source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

/// A path monitor. Its thread, its owner and a resolver thread each have a reference, and the last one to release it
/// frees the monitor.
struct nc_path {
    nc_path_options options; // without the host
    char host[NC_PATH_HOST_BYTES];
    bool is_name;
    int wake_fds[2];
    nc_path_source *source;
    struct {
        nc_path_destinations destinations;
        bool is_looking;
        bool must_check; // something changed while a lookup was running, so another one follows
    } loop;              // monitor's thread only
    struct {
        unsigned holders;
        bool is_closing;
        bool has_answer;
        nc_path_destinations answer;
        nc_path_state state;
    } shared; // guarded by the mutex
    pthread_mutex_t mutex;
};

/* --- references and wake-ups --- */

static void wake(const nc_path *path) {
    // If the pipe is full, wake-ups are already pending.
    while (write(path->wake_fds[1], "", 1) < 0 && errno == EINTR) {
    }
}

static void close_all(nc_path *path) {
    for (int i = 0; i < 2; i++) {
        if (path->wake_fds[i] >= 0) {
            (void)close(path->wake_fds[i]);
        }
    }
    nc_path_source_close(path->source);
    pthread_mutex_destroy(&path->mutex);
    nc_free(path);
}

static void release_reference(nc_path *path) {
    pthread_mutex_lock(&path->mutex);
    bool is_last = --path->shared.holders == 0;
    pthread_mutex_unlock(&path->mutex);
    if (is_last) {
        close_all(path);
    }
}

static void add_reference(nc_path *path) {
    pthread_mutex_lock(&path->mutex);
    path->shared.holders++;
    pthread_mutex_unlock(&path->mutex);
}

static bool open_wake(nc_path *path) {
    if (pipe(path->wake_fds) != 0) {
        path->wake_fds[0] = path->wake_fds[1] = -1;
        return false;
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(path->wake_fds[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(path->wake_fds[i], F_SETFL, O_NONBLOCK);
    }
    return true;
}

/* --- name resolution --- */

static void *resolve_name(void *argument) {
    nc_path *path = argument;
    nc_path_destinations answer;
    if (!nc_path_host_lookup(path->host, &answer)) {
        answer.count = 0;
    }
    pthread_mutex_lock(&path->mutex);
    path->shared.answer = answer;
    path->shared.has_answer = true;
    pthread_mutex_unlock(&path->mutex);
    wake(path);
    release_reference(path);
    return NULL;
}

/// Begins to resolve the name on another thread, because the resolver may take long and cannot be stopped. Only one
/// such thread runs at a time.
static void begin_lookup(nc_path *path) {
    pthread_t thread;
    if (!path->is_name || path->loop.is_looking) {
        path->loop.must_check = path->is_name;
        return;
    }
    add_reference(path);
    path->loop.must_check = false;
    path->loop.is_looking = nc_thread_start(&thread, "nc-path-name", resolve_name, path);
    if (path->loop.is_looking) {
        (void)pthread_detach(thread);
    } else {
        release_reference(path);
    }
}

/// Takes the resolver's result, if there is one. A result without addresses changes nothing.
static void take_addresses(nc_path *path) {
    pthread_mutex_lock(&path->mutex);
    bool has_answer = path->shared.has_answer;
    nc_path_destinations answer = path->shared.answer;
    path->shared.has_answer = false;
    pthread_mutex_unlock(&path->mutex);
    if (!has_answer) {
        return;
    }
    path->loop.is_looking = false;
    if (answer.count > 0) {
        path->loop.destinations = answer;
    }
    if (path->loop.must_check) {
        begin_lookup(path);
    }
}

/* --- the monitor's thread --- */

static void notify(nc_path *path, const nc_path_state *state) {
    if (path->options.on_change != NULL) {
        path->options.on_change(path->options.ctx, state);
    }
}

static bool is_closing(nc_path *path) {
    pthread_mutex_lock(&path->mutex);
    bool is_closing = path->shared.is_closing;
    pthread_mutex_unlock(&path->mutex);
    return is_closing;
}

/// Determines the state after a change, and reports it if it differs from the previous one.
static void update_state(void *ctx) {
    nc_path *path = ctx;
    nc_path_state state;
    nc_path_host_state(path->source, &path->loop.destinations, &state);
    pthread_mutex_lock(&path->mutex);
    bool is_notified = !path->shared.is_closing && !nc_path_state_is_equal(&state, &path->shared.state);
    if (is_notified) {
        path->shared.state = state;
    }
    pthread_mutex_unlock(&path->mutex);
    if (is_notified) {
        notify(path, &state);
    }
}

static void record_change(void *ctx) {
    nc_path *path = ctx;
    update_state(path);
    begin_lookup(path);
}

static void *watch(void *argument) {
    nc_path *path = argument;
    nc_path_state state;
    nc_path_current(path, &state);
    notify(path, &state);
    begin_lookup(path);
    while (!is_closing(path)) {
        struct pollfd fds[2] = {{.fd = path->wake_fds[0], .events = POLLIN},
                                {.fd = nc_path_source_fd(path->source), .events = POLLIN}};
        int ready = poll(fds, 2, nc_path_source_timeout_ms(path->source));
        if (ready < 0) {
            continue; // EINTR
        }
        if ((fds[0].revents & POLLIN) != 0) {
            char bytes[64];
            while (read(path->wake_fds[0], bytes, sizeof bytes) > 0) {
            }
            take_addresses(path);
            update_state(path);
        }
        if (ready == 0 || fds[1].revents != 0) {
            nc_path_source_read(path->source, record_change, path);
        }
    }
    if (path->options.on_end != NULL) {
        path->options.on_end(path->options.ctx);
    }
    release_reference(path);
    return NULL;
}

/* --- public functions --- */

static nc_status prepare(nc_path *path, const nc_path_options *options, nc_error *err) {
    if (!nc_path_host_copy(options->host, path->host)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the host is longer than 255 bytes or contains a NUL byte");
    }
    path->options = *options;
    path->options.host = nc_slice_make(NULL, 0);
    path->is_name = path->host[0] != '\0' && !nc_path_host_parse(path->host, &path->loop.destinations);
    if (!open_wake(path)) {
        return nc_error_of_system(err, "a path monitor cannot be started");
    }
    nc_status status = nc_path_source_open(&path->source, err);
    if (status == NC_OK) {
        nc_path_host_state(path->source, &path->loop.destinations, &path->shared.state);
    }
    return status;
}

nc_status nc_path_new(nc_path **out, const nc_path_options *options, nc_error *err) {
    static const nc_path_options nothing = {.on_change = NULL};
    pthread_t thread;
    nc_path *path = nc_alloc_zeroed(1, sizeof *path);
    if (path == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory for a path monitor");
    }
    path->wake_fds[0] = path->wake_fds[1] = -1;
    path->shared.holders = 2;
    (void)pthread_mutex_init(&path->mutex, NULL);
    nc_status status = prepare(path, options == NULL ? &nothing : options, err);
    if (status == NC_OK && !nc_thread_start(&thread, "nc-path", watch, path)) {
        status = nc_error_set(err, NC_ERR_THREAD, 0, -1, "the path monitor's thread could not be started");
    }
    if (status != NC_OK) {
        close_all(path);
        return status;
    }
    (void)pthread_detach(thread);
    *out = path;
    return nc_error_clear(err);
}

void nc_path_current(nc_path *path, nc_path_state *out) {
    pthread_mutex_lock(&path->mutex);
    *out = path->shared.state;
    pthread_mutex_unlock(&path->mutex);
}

void nc_path_release(nc_path *path) {
    if (path == NULL) {
        return;
    }
    pthread_mutex_lock(&path->mutex);
    path->shared.is_closing = true;
    pthread_mutex_unlock(&path->mutex);
    wake(path);
    release_reference(path);
}

nc_status nc_path_lookup(nc_path_state *out, nc_slice host, nc_error *err) {
    char name[NC_PATH_HOST_BYTES];
    nc_path_destinations destinations = {.count = 0};
    nc_path_source *source;
    if (!nc_path_host_copy(host, name)) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the host is longer than 255 bytes or contains a NUL byte");
    }
    if (name[0] != '\0' && !nc_path_host_parse(name, &destinations) && !nc_path_host_lookup(name, &destinations)) {
        destinations.count = 0;
    }
    nc_status status = nc_path_source_open(&source, err);
    if (status != NC_OK) {
        return status;
    }
    nc_path_host_state(source, &destinations, out);
    nc_path_source_close(source);
    return nc_error_clear(err);
}
