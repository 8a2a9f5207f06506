/// How work reaches the loop from other threads: lists under one mutex, and one wake-up for many letters.
///
/// The loop says when it is about to sleep and when it has left its sleep; only between the two does a letter cost a
/// system call.
#ifndef NETCORE_PRIVATE_MAILBOX_H
#define NETCORE_PRIVATE_MAILBOX_H

#include "base/list.h"
#include "net/transfer.h"

#include <stdatomic.h>

/// What came back from a worker; `arrive` is called on the loop.
typedef struct nc_answer {
    nc_link link;
    void (*arrive)(struct nc_answer *answer);
} nc_answer;

/// What was asked of a transfer that is under way.
enum {
    NC_ORDER_RESUME = 7, // the reasons to rest (nc_rest) that are over
    NC_ORDER_PAUSE = 8,
    NC_ORDER_PRIORITY = 16,
    NC_ORDER_READ_ON = 32, // a download's: there is a file to write to
};

/// Touched only under the engine's mutex, but for the descriptors, which never change, and where it is said.
typedef struct nc_mailbox {
    int wake_read_fd;
    int wake_write_fd;          // the same as above where there is eventfd(2)
    atomic_bool is_loop_asleep; // becomes true under the mutex alone
    bool wants_drain;           // of the client's jobs
    bool is_finishing;          // takes no more requests, and ends with the last one
    bool is_closing;
    nc_link submitted; // nc_transfer.link
    nc_link cancelled; // nc_transfer.cancel_link
    nc_link ordered;   // nc_transfer.order_link
    nc_link answers;   // nc_answer.link
    bool is_suspended;
    bool has_changed_cookies;
} nc_mailbox;

/// What the loop takes out at once.
typedef struct nc_mail {
    nc_link submitted;
    nc_link cancelled;
    nc_link ordered; // of none that was submitted after `submitted` was taken
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

/// Says, under the mutex, whether the loop must be woken after it is unlocked; the loop then counts as awake.
bool nc_mailbox_needs_wake(nc_engine *engine);
/// Wakes the loop; never blocks.
void nc_mailbox_wake(const nc_mailbox *mailbox);
/// Says, on the loop and without the mutex, that it has left its sleep: it looks for mail before the next one.
void nc_mailbox_leave_sleep(nc_engine *engine);
/// Swallows wake-ups, on the loop.
void nc_mailbox_clear_wake(const nc_mailbox *mailbox);

/// Takes everything; `mail` must stay where it is while its lists are used.
void nc_mailbox_take(nc_engine *engine, nc_mail *mail);
/// True when nothing came meanwhile: the loop may sleep and is woken by the next letter.
bool nc_mailbox_may_sleep(nc_engine *engine);
/// A worker's answer.
void nc_mailbox_put_answer(nc_engine *engine, nc_answer *answer);

#endif
