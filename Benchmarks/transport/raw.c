/* The reference: plain libcurl as a careful C program uses it: one thread, curl_multi_socket_action over epoll.
 *
 * Easy handles are created once and added again. Each body is copied to a preallocated buffer, because a caller needs
 * the body somewhere; nothing else is done with it. Only options that an ordinary caller sets are set, and
 * CURLMOPT_MAXCONNECTS: without it libcurl closes the connections at the end of the warm-up. */
#include "measure.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { MAX_EVENTS = 256, MIN_BODY_CAPACITY = 128 * 1024 };

typedef struct transfer {
    CURL *easy;
    uint8_t *body;
    size_t body_length;
    size_t body_capacity;
} transfer;

typedef struct loop {
    const bench_options *options;
    CURLM *multi;
    transfer *transfers;
    int epoll_fd;
    int64_t deadline_ms; /* -1: no timer */
    uint64_t to_start;
    uint64_t running;
    uint64_t connections;
    uint64_t failures;
} loop;

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* --- libcurl's callbacks --- */

static size_t on_write(char *data, size_t size, size_t count, void *context) {
    transfer *self = context;
    size_t length = size * count;
    if (length > self->body_capacity - self->body_length) {
        return 0;
    }
    memcpy(self->body + self->body_length, data, length);
    self->body_length += length;
    return length;
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *known) {
    (void)easy;
    loop *self = context;
    if (what == CURL_POLL_REMOVE) {
        epoll_ctl(self->epoll_fd, EPOLL_CTL_DEL, fd, NULL);
        return 0;
    }
    struct epoll_event event = {.data.fd = fd};
    if (what & CURL_POLL_IN) {
        event.events |= EPOLLIN;
    }
    if (what & CURL_POLL_OUT) {
        event.events |= EPOLLOUT;
    }
    epoll_ctl(self->epoll_fd, known == NULL ? EPOLL_CTL_ADD : EPOLL_CTL_MOD, fd, &event);
    if (known == NULL) {
        curl_multi_assign(self->multi, fd, self);
    }
    return 0;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context) {
    (void)multi;
    loop *self = context;
    self->deadline_ms = timeout_ms < 0 ? -1 : timeout_ms == 0 ? 0 : now_ms() + timeout_ms;
    return 0;
}

/* --- the loop --- */

static void start_transfer(loop *self, transfer *next) {
    next->body_length = 0;
    self->to_start--;
    if (curl_multi_add_handle(self->multi, next->easy) == CURLM_OK) {
        self->running++;
    } else {
        self->failures++;
    }
}

static void finish_transfers(loop *self) {
    int waiting = 0;
    CURLMsg *message = NULL;
    while ((message = curl_multi_info_read(self->multi, &waiting)) != NULL) {
        CURL *easy = message->easy_handle;
        CURLcode code = message->data.result;
        transfer *done = NULL;
        long status = 0;
        long connects = 0;
        curl_easy_getinfo(easy, CURLINFO_PRIVATE, &done);
        curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
        curl_easy_getinfo(easy, CURLINFO_NUM_CONNECTS, &connects);
        if (code != CURLE_OK || status != 200 || done->body_length != self->options->body_bytes) {
            self->failures++;
        }
        self->connections += (uint64_t)connects;
        curl_multi_remove_handle(self->multi, easy);
        self->running--;
        if (self->to_start > 0) {
            start_transfer(self, done);
        }
    }
}

static int poll_timeout_ms(const loop *self) {
    if (self->deadline_ms <= 0) {
        return (int)self->deadline_ms;
    }
    int64_t left_ms = self->deadline_ms - now_ms();
    return left_ms < 0 ? 0 : left_ms > 60000 ? 60000 : (int)left_ms;
}

static void run_round(loop *self) {
    struct epoll_event events[MAX_EVENTS];
    int still_running = 0;
    int timeout_ms = poll_timeout_ms(self);
    if (timeout_ms != 0) {
        int count = epoll_wait(self->epoll_fd, events, MAX_EVENTS, timeout_ms);
        for (int i = 0; i < count; i++) {
            int mask = (events[i].events & EPOLLIN ? CURL_CSELECT_IN : 0) |
                       (events[i].events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
                       (events[i].events & (EPOLLERR | EPOLLHUP) ? CURL_CSELECT_ERR : 0);
            curl_multi_socket_action(self->multi, events[i].data.fd, mask, &still_running);
        }
        finish_transfers(self);
        timeout_ms = poll_timeout_ms(self);
    }
    /* Every handle that was just added has an expired timer, so this one call starts them all.
     */
    if (timeout_ms == 0) {
        self->deadline_ms = -1;
        curl_multi_socket_action(self->multi, CURL_SOCKET_TIMEOUT, 0, &still_running);
        finish_transfers(self);
    }
}

static void run(loop *self, uint64_t requests) {
    self->to_start = requests;
    for (uint64_t i = 0; i < self->options->in_flight && self->to_start > 0; i++) {
        start_transfer(self, &self->transfers[i]);
    }
    while (self->running > 0) {
        run_round(self);
    }
}

/* --- creation and release --- */

/* Debian's libcurl is built with a CAPATH. While it is set, libcurl reads all authorities for each connection, so a
 * careful program sets it to NULL. PIPEWAIT keeps 64 transfers on one HTTP/2 connection. */
static bool set_tls(CURL *easy, const bench_options *options) {
    bool keeps_path = options->mode != NULL && strcmp(options->mode, "defaults") == 0;
    return options->ca == NULL || ((keeps_path || curl_easy_setopt(easy, CURLOPT_CAPATH, NULL) == CURLE_OK) &&
                                   curl_easy_setopt(easy, CURLOPT_CAINFO, options->ca) == CURLE_OK &&
                                   curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 1L) == CURLE_OK);
}

static bool transfer_init(transfer *self, const bench_options *options) {
    self->easy = curl_easy_init();
    self->body_capacity = options->body_bytes > MIN_BODY_CAPACITY ? options->body_bytes : MIN_BODY_CAPACITY;
    self->body = malloc(self->body_capacity);
    return self->easy != NULL && self->body != NULL && set_tls(self->easy, options) &&
           curl_easy_setopt(self->easy, CURLOPT_ACCEPT_ENCODING, options->asks_codings != 0 ? "" : NULL) == CURLE_OK &&
           curl_easy_setopt(self->easy, CURLOPT_URL, options->url) == CURLE_OK &&
           curl_easy_setopt(self->easy, CURLOPT_NOSIGNAL, 1L) == CURLE_OK &&
           curl_easy_setopt(self->easy, CURLOPT_WRITEFUNCTION, on_write) == CURLE_OK &&
           curl_easy_setopt(self->easy, CURLOPT_WRITEDATA, self) == CURLE_OK &&
           curl_easy_setopt(self->easy, CURLOPT_PRIVATE, self) == CURLE_OK;
}

static bool loop_init(loop *self, const bench_options *options) {
    *self = (loop){.options = options, .deadline_ms = -1};
    self->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    self->multi = curl_multi_init();
    self->transfers = calloc(options->in_flight, sizeof *self->transfers);
    if (self->epoll_fd < 0 || self->multi == NULL || self->transfers == NULL) {
        return false;
    }
    curl_multi_setopt(self->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
    curl_multi_setopt(self->multi, CURLMOPT_SOCKETDATA, self);
    curl_multi_setopt(self->multi, CURLMOPT_TIMERFUNCTION, on_timer);
    curl_multi_setopt(self->multi, CURLMOPT_TIMERDATA, self);
    curl_multi_setopt(self->multi, CURLMOPT_MAXCONNECTS, (long)options->in_flight);
    for (uint64_t i = 0; i < options->in_flight; i++) {
        if (!transfer_init(&self->transfers[i], options)) {
            return false;
        }
    }
    return true;
}

static void loop_deinit(loop *self) {
    for (uint64_t i = 0; self->transfers != NULL && i < self->options->in_flight; i++) {
        curl_easy_cleanup(self->transfers[i].easy);
        free(self->transfers[i].body);
    }
    curl_multi_cleanup(self->multi);
    free(self->transfers);
    if (self->epoll_fd >= 0) {
        close(self->epoll_fd);
    }
}

int main(int argc, char *argv[]) {
    bench_options options;
    loop self;
    if (!bench_options_parse(&options, argc, argv) || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        return 2;
    }
    bool is_ready = loop_init(&self, &options);
    if (is_ready) {
        run(&self, options.warm_up);
        bench_usage start = bench_usage_now();
        run(&self, options.requests);
        bench_outcome outcome = {.end = bench_usage_now(), .connections = self.connections, .failures = self.failures};
        bench_print_result("raw", &options, start, &outcome);
    } else {
        fprintf(stderr, "the loop could not be made\n");
    }
    loop_deinit(&self);
    return is_ready ? 0 : 1;
}
