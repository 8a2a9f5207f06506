/// Passes work from other threads to the event loop: lists under one mutex, and one wake-up for many entries.
///
/// The event loop records when it is about to sleep and when it has woken up. Only in between does an entry need a
/// system call.
#ifndef NETCORE_PRIVATE_MAILBOX_H
#define NETCORE_PRIVATE_MAILBOX_H

#include "base/list.h"
#include "state/transfer_record.h"

#include <stdatomic.h>

/// The result of a worker thread's task; `arrive` is called on the event loop.
typedef struct nc_worker_result {
    nc_link link;
    void (*arrive)(struct nc_worker_result *result);
} nc_worker_result;

/// Commands for a running transfer.
enum {
    NC_COMMAND_RESUME = 7, // a mask: the reasons to pause (nc_pause_reason) that have ended
    NC_COMMAND_PAUSE = 8,
    NC_COMMAND_PRIORITY = 16,
    NC_COMMAND_CONTINUE_READING = 32, // sent by a download when its file is open
};

/// Guarded by the engine's mutex, except the descriptors, which never change, and where noted.
typedef struct nc_mailbox {
    int wake_read_fd;
    int wake_write_fd;          // equal to wake_read_fd if eventfd(2) is available
    atomic_bool is_loop_asleep; // becomes true only under the mutex
    bool wants_drain;           // the client's jobs must be run
    bool is_finishing;          // the engine accepts no more requests, and ends after the last one
    bool is_closing;
    nc_link submitted; // nc_transfer.link
    nc_link cancelled; // nc_transfer.cancel_link
    nc_link commanded; // nc_transfer.command_link
    nc_link results;   // nc_worker_result.link
    bool is_suspended;
    bool has_changed_cookies;
} nc_mailbox;

/// Everything that the event loop takes together.
typedef struct nc_mail {
    nc_link submitted;
    nc_link cancelled;
    nc_link commanded; // each of these transfers was submitted before or is in `submitted`
    nc_link results;
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

/// Takes all entries. `mail` must not be moved while its lists are used.
void nc_mailbox_take(nc_engine *engine, nc_mail *mail);
/// Returns true if the mailbox is still empty. The event loop may then sleep, and the next entry wakes it.
bool nc_mailbox_may_sleep(nc_engine *engine);
/// Adds a worker thread's result.
void nc_mailbox_put_result(nc_engine *engine, nc_worker_result *result);

#endif
