#include "state/mailbox.h"

#include "base/error.h"
#include "base/list.h"
#include "base/trace.h"
#include "state/engine_record.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/eventfd.h>
#endif

nc_status nc_mailbox_init(nc_mailbox *mailbox, nc_error *err) {
    nc_list_init(&mailbox->submitted);
    nc_list_init(&mailbox->cancelled);
    nc_list_init(&mailbox->commanded);
    nc_list_init(&mailbox->results);
#if defined(__linux__)
    mailbox->wake_read_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    mailbox->wake_write_fd = mailbox->wake_read_fd;
    return mailbox->wake_read_fd >= 0 ? NC_OK : nc_error_of_system(err, "an engine cannot be started: eventfd");
#else
    int ends[2];
    if (pipe(ends) != 0) {
        mailbox->wake_read_fd = -1;
        return nc_error_of_system(err, "an engine cannot be started: pipe");
    }
    for (int i = 0; i < 2; i++) {
        (void)fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        (void)fcntl(ends[i], F_SETFL, O_NONBLOCK);
    }
    mailbox->wake_read_fd = ends[0];
    mailbox->wake_write_fd = ends[1];
    return NC_OK;
#endif
}

void nc_mailbox_deinit(nc_mailbox *mailbox) {
    if (mailbox->wake_read_fd >= 0) {
        (void)close(mailbox->wake_read_fd);
    }
    if (mailbox->wake_write_fd >= 0 && mailbox->wake_write_fd != mailbox->wake_read_fd) {
        (void)close(mailbox->wake_write_fd);
    }
}

bool nc_mailbox_needs_wake(nc_engine *engine) {
    bool was_asleep = atomic_load_explicit(&engine->shared.mailbox.is_loop_asleep, memory_order_relaxed);
    if (was_asleep) {
        atomic_store_explicit(&engine->shared.mailbox.is_loop_asleep, false, memory_order_relaxed);
    }
    return was_asleep;
}

void nc_mailbox_wake(const nc_mailbox *mailbox) {
    const uint64_t one = 1;
    // EAGAIN means that wake-ups are already pending.
    while (write(mailbox->wake_write_fd, &one, sizeof one) < 0 && errno == EINTR) {
    }
}

void nc_mailbox_leave_sleep(nc_engine *engine) {
    atomic_store_explicit(&engine->shared.mailbox.is_loop_asleep, false, memory_order_relaxed);
}

void nc_mailbox_clear_wake(const nc_mailbox *mailbox) {
    uint64_t count;
    while (read(mailbox->wake_read_fd, &count, sizeof count) < 0 && errno == EINTR) {
    }
}

void nc_mailbox_take(nc_engine *engine, nc_mail *mail) {
    nc_mailbox *mailbox = &engine->shared.mailbox;
    nc_list_init(&mail->submitted);
    nc_list_init(&mail->cancelled);
    nc_list_init(&mail->commanded);
    nc_list_init(&mail->results);
    pthread_mutex_lock(&engine->shared.mutex);
    nc_list_move_all(&mail->submitted, &mailbox->submitted);
    nc_list_move_all(&mail->cancelled, &mailbox->cancelled);
    nc_list_move_all(&mail->commanded, &mailbox->commanded);
    nc_list_move_all(&mail->results, &mailbox->results);
    mail->is_suspended = mailbox->is_suspended;
    mail->has_changed_cookies = mailbox->has_changed_cookies;
    mailbox->has_changed_cookies = false;
    mail->wants_drain = mailbox->wants_drain;
    mail->is_finishing = mailbox->is_finishing;
    mail->download_count = engine->shared.download_count;
    mail->is_closing = mailbox->is_closing;
    mailbox->wants_drain = false;
    pthread_mutex_unlock(&engine->shared.mutex);
}

bool nc_mailbox_may_sleep(nc_engine *engine) {
    nc_mailbox *mailbox = &engine->shared.mailbox;
    pthread_mutex_lock(&engine->shared.mutex);
    bool is_empty =
        nc_list_is_empty(&mailbox->submitted) && nc_list_is_empty(&mailbox->cancelled) &&
        nc_list_is_empty(&mailbox->results) && nc_list_is_empty(&mailbox->commanded) && !mailbox->has_changed_cookies &&
        !mailbox->wants_drain && mailbox->is_suspended == engine->loop.queue.is_suspended &&
        mailbox->is_finishing == engine->loop.is_finishing && mailbox->is_closing == engine->loop.is_closing;
    atomic_store_explicit(&mailbox->is_loop_asleep, is_empty, memory_order_relaxed);
    pthread_mutex_unlock(&engine->shared.mutex);
    return is_empty;
}

void nc_mailbox_put_result(nc_engine *engine, nc_worker_result *result) {
    pthread_mutex_lock(&engine->shared.mutex);
    nc_list_append(&engine->shared.mailbox.results, &result->link);
    bool needs_wake = nc_mailbox_needs_wake(engine);
    pthread_mutex_unlock(&engine->shared.mutex);
    if (needs_wake) {
        nc_mailbox_wake(&engine->shared.mailbox);
    }
}
