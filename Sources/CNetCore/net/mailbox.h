/// Passes work from other threads to the event loop: lists under one mutex, and one wake-up for many entries.
///
/// The event loop announces that it is about to sleep, and that it has woken up. Only in between does an entry cost a
/// system call.
#ifndef NETCORE_PRIVATE_MAILBOX_H
#define NETCORE_PRIVATE_MAILBOX_H

#include "base/list.h"
#include "net/transfer.h"

#include <stdatomic.h>

/// The result of a worker thread's task; `arrive` is called on the event loop.
typedef struct nc_answer {
    nc_link link;
    void (*arrive)(struct nc_answer *answer);
} nc_answer;

/// Commands for a transfer in flight.
enum {
    NC_ORDER_RESUME = 7, // the reasons to pause (nc_rest) that have ended
    NC_ORDER_PAUSE = 8,
    NC_ORDER_PRIORITY = 16,
    NC_ORDER_READ_ON = 32, // from a download: the file is open
};

/// Guarded by the engine's mutex, except the descriptors, which never change, and where noted.
typedef struct nc_mailbox {
    int wake_read_fd;
    int wake_write_fd;          // equal to the one above with eventfd(2)
    atomic_bool is_loop_asleep; // becomes true only under the mutex
    bool wants_drain;           // of the client's jobs
    bool is_finishing;          // accepts no more requests, and ends with the last one
    bool is_closing;
    nc_link submitted; // nc_transfer.link
    nc_link cancelled; // nc_transfer.cancel_link
    nc_link ordered;   // nc_transfer.order_link
    nc_link answers;   // nc_answer.link
    bool is_suspended;
    bool has_changed_cookies;
} nc_mailbox;

/// Everything that the event loop takes together.
typedef struct nc_mail {
    nc_link submitted;
    nc_link cancelled;
    nc_link ordered; // none was submitted after `submitted` was taken
    nc_link answers;
    bool has_changed_cookies;
    size_t download_count;
    bool is_suspended;
    bool wants_drain;
    bool is_finishing;
    bool is_closing;
} nc_mail;

NC_NODISCARD nc_status nc_mailbox_init(nc_mailbox *mailbox, nc_error *err);
void nc_mailbox_deinit(nc_mailbox *mailbox);

/// Returns true if the event loop must be woken after the mutex is unlocked. The loop then counts as awake. The caller
/// holds the mutex.
bool nc_mailbox_needs_wake(nc_engine *engine);
/// Wakes the event loop; never blocks.
void nc_mailbox_wake(const nc_mailbox *mailbox);
/// Announces, on the event loop and without the mutex, that it is awake. It reads the mailbox before its next sleep.
void nc_mailbox_leave_sleep(nc_engine *engine);
/// Reads pending wake-ups, on the event loop.
void nc_mailbox_clear_wake(const nc_mailbox *mailbox);

/// Takes everything. `mail` must not be moved while its lists are used.
void nc_mailbox_take(nc_engine *engine, nc_mail *mail);
/// Returns true if the mailbox is still empty: the event loop may sleep, and the next entry wakes it.
bool nc_mailbox_may_sleep(nc_engine *engine);
/// Adds a worker thread's result.
void nc_mailbox_put_answer(nc_engine *engine, nc_answer *answer);

#endif
