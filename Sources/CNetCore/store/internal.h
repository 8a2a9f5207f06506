/// The internal interface of a store: shared state and file access.
#ifndef NETCORE_PRIVATE_STORE_INTERNAL_H
#define NETCORE_PRIVATE_STORE_INTERNAL_H

#include "digest/seal.h"
#include "store/format.h"
#include "store/index.h"

#include <netcore/digest.h>
#include <netcore/store.h>
#include <netcore/store_walk.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* --- files.c: the names of a store's files. Files with other names do not belong to the store --- */

/// Sizes of the names "0123456789abcdef0123456789abcdef.0" (an entry) and "part-0123456789abcdef-0123456789abcdef" (a
/// temporary file), with NUL.
enum { NC_ENTRY_NAME_BYTES = 35, NC_TEMP_NAME_BYTES = 39 };

/// The lock file: each open store of the directory holds a lock on one byte of it.
#define NC_STORE_LOCK_NAME "lock"
/// Marks the directory for backup programs (bford.info/cachedir).
#define NC_STORE_TAG_NAME "CACHEDIR.TAG"

void nc_entry_name_format(char out[NC_ENTRY_NAME_BYTES], const nc_store_name *name);
/// Parses an entry's name. Returns false for any other name.
NC_NODISCARD bool nc_entry_name_parse(nc_store_name *out, const char *text);
/// Writes the name of a temporary file of the open store with the number `instance`.
void nc_temp_name_format(char out[NC_TEMP_NAME_BYTES], uint64_t instance, uint64_t number);
/// Parses the store's number in a temporary file's name. Returns false for any other name.
NC_NODISCARD bool nc_temp_name_parse(uint64_t *instance, const char *text);

/* --- the store --- */

/// A use of an entry is written to its file's modification time, by which the next process orders the entries. Each
/// write makes an inode dirty, which takes as long as several reads, so writes are limited. The values are the minimum
/// interval for one entry, the largest burst, and the interval after which one more write is allowed.
enum { NC_STORE_USE_STEP_MS = 60000, NC_STORE_MAX_USE_CREDITS = 64, NC_STORE_USE_CREDIT_STEP_MS = 20 };

struct nc_store {
    nc_file_ops files;
    nc_clock clock;
    uint64_t max_bytes;
    uint64_t max_entry_bytes;
    uint32_t max_entries;
    nc_store_durability durability;
    char *path; // for messages
    int directory_fd;
    bool is_shared; // true if other users can create files in the directory
    int lock_fd;    // -1 if the system has no locks
    uint64_t instance;
    nc_seal *seal; // NULL if entries are not sealed
    nc_random random;
    atomic_uint_fast64_t temp_file_number;
    pthread_mutex_t directory_mutex; // held while a removed directory is recreated

    /// Guards the members below. Held while a name in the directory changes, so that index and directory agree.
    pthread_mutex_t mutex;
    nc_digest *md5;
    nc_index index;
    nc_store_stats stats;
    int64_t credited_at_ms; // time of the last increase of `use_credits`
    int64_t use_credits;    // number of uses that may still be written to files
    uint64_t changes_since_scan;
    uint64_t bytes_since_scan;
};

/* --- files.c: system calls with retries and error messages --- */

/// Fills `err` for an errno with "cannot be WHAT". Returns NC_ERR_FILE, NC_ERR_DESCRIPTORS or NC_ERR_NO_MEMORY. `name`
/// is a file of the store, or NULL for the directory.
nc_status nc_store_fail(const nc_store *store, nc_error *err, int code, const char *name, const char *what);
/// Opens a file of the store. On failure returns -1 and sets errno. Never follows a symbolic link, never blocks, and
/// refuses a file that another user could have written.
int nc_store_open_file(const nc_store *store, const char *name, int flags);
/// Closes a descriptor, if there is one, and sets it to -1.
void nc_store_close_descriptor(const nc_store *store, int *fd);
/// Reads until `length` or the end of the file. On failure returns -1 and sets errno.
ssize_t nc_store_read(const nc_store *store, int fd, uint8_t *bytes, size_t length);
/// Does the same at an offset.
ssize_t nc_store_read_at(const nc_store *store, int fd, uint8_t *bytes, size_t length, uint64_t offset);
/// Writes all bytes. Returns 0 or errno.
int nc_store_write(const nc_store *store, int fd, nc_slice bytes);
int nc_store_write_at(const nc_store *store, int fd, nc_slice bytes, uint64_t offset);
int nc_store_sync(const nc_store *store, int fd);
/// fstat(2) of a descriptor, and of a name in the directory. Return 0 or errno.
int nc_store_status(const nc_store *store, int fd, struct stat *out);
int nc_store_status_at(const nc_store *store, const char *name, struct stat *out);
/// Sets the mode if `info` has another one. Returns 0 or errno.
int nc_store_set_mode(const nc_store *store, int fd, const struct stat *info, mode_t mode);
/// Syncs the directory if the durability requires it. Returns 0 or errno.
int nc_store_sync_directory(const nc_store *store);
/// Removes a file or an empty directory. Returns 0 or errno; a missing name is not an error.
int nc_store_unlink(const nc_store *store, const char *name);
/// Returns true if the errno means that something else than a file of a store has the name.
bool nc_store_is_foreign(int code);
int64_t nc_store_now_ms(const nc_store *store);

/* --- lock.c: the lock file, which shows what stores have the directory open --- */

/// Opens the lock file, or creates it.
NC_NODISCARD nc_status nc_store_lock_open(nc_store *store, nc_error *err);
/// Chooses the store's random number (`instance`) and locks the byte at that offset. On a system without such locks it
/// succeeds too; other open stores then cannot be detected.
NC_NODISCARD nc_status nc_store_lock_choose(nc_store *store, nc_error *err);
/// Locks the byte of a number. Returns 0 or errno.
NC_NODISCARD int nc_store_lock_take(const nc_store *store, uint64_t instance);
/// Returns true if the store with this number has the directory open, or if that is unknown.
NC_NODISCARD bool nc_store_is_alive(const nc_store *store, uint64_t instance);
/// Returns true if another store has the directory open; false if that is unknown.
NC_NODISCARD bool nc_store_is_shared(const nc_store *store);

/* --- temp_file.c: temporary files --- */

typedef struct nc_store_temp_file {
    int fd; // -1 when there is none
    char name[NC_TEMP_NAME_BYTES];
} nc_store_temp_file;

/// Creates an empty temporary file with mode 0600. Returns NC_OK or the status of nc_store_fail().
NC_NODISCARD nc_status nc_store_temp_file_open(nc_store_temp_file *out, nc_store *store, nc_error *err);
/// Syncs (if the durability requires it) and closes. The file stays.
NC_NODISCARD nc_status nc_store_temp_file_close(nc_store_temp_file *temp_file, const nc_store *store, nc_error *err);
/// Closes and removes the temporary file, if there is one.
void nc_store_temp_file_drop(nc_store_temp_file *temp_file, const nc_store *store);
/// Renames the closed temporary file to an entry's name, adds it to the index, and evicts. On failure the file is
/// removed.
NC_NODISCARD nc_status nc_store_temp_file_commit(nc_store_temp_file *temp_file, nc_store *store, nc_slice key,
                                                 uint64_t file_bytes, nc_error *err);

/* --- load.c: entries from their files --- */

/// The result of loading a file.
typedef NC_ENUM(nc_loaded){
    NC_LOADED_HIT, NC_LOADED_ABSENT, NC_LOADED_OTHER_KEY, NC_LOADED_EXPIRED, NC_LOADED_DAMAGED, NC_LOADED_LOCKED,
} nc_loaded;

/// An open file whose front (header and texts) was verified and unsealed.
typedef struct nc_loading {
    int fd; // -1 if there is none
    nc_loaded what;
    nc_entry_head head;
    nc_cipher *cipher; // for a sealed body, or NULL
} nc_loading;

/// The parameters of a load.
typedef struct nc_load_request {
    const nc_store_name *name;
    nc_slice key;            // the required key; empty accepts any key
    uint64_t expected_bytes; // the probable size of the file, or 0
    bool whole;              // also read, verify and unseal the body; it follows the texts in `room`
} nc_load_request;

/// Opens a file and reads its front, and its body if wanted, into `room`, which is emptied first. Returns NC_OK with
/// `out->what`. After an error no file stays open. Call nc_loading_end() in both cases.
NC_NODISCARD nc_status nc_store_load(nc_loading *out, nc_store *store, const nc_load_request *wanted, nc_buf *room,
                                     nc_error *err);
void nc_loading_end(nc_loading *loading, const nc_store *store);
/// Reads and verifies the body of a hit piece by piece. If it is damaged, sets `what`. `room` must have
/// NC_ENTRY_PIECE_BYTES and space for a tag.
NC_NODISCARD nc_status nc_store_check_body(nc_loading *loading, const nc_store *store, uint8_t *room, nc_error *err);
/// Unseals piece `number` of a body in place. Returns false if it is not authentic.
NC_NODISCARD bool nc_store_unseal_piece(nc_cipher *cipher, uint8_t *bytes, size_t length, uint64_t number);

/* --- locate.c: the file names of a key --- */

/// The file names that a key may have.
typedef struct nc_store_candidates {
    nc_store_name name; // the digest of the key; the slot changes during the search
    uint64_t file_bytes[NC_STORE_SLOTS];
} nc_store_candidates;

NC_NODISCARD nc_status nc_store_locate(nc_store_candidates *out, nc_store *store, nc_slice key, nc_error *err);
/// Finds the key in its slots and loads its file. Removes damaged and expired files that it meets. `candidates->name`
/// becomes the name of the file. `out` is filled as by nc_store_load(); without a hit, `what` is NC_LOADED_ABSENT,
/// _DAMAGED or _EXPIRED.
NC_NODISCARD nc_status nc_store_find(nc_loading *out, nc_store_candidates *candidates, nc_store *store,
                                     nc_load_request wanted, nc_buf *room, nc_error *err);
/// Counts a miss and sets `out->found` to its reason. Returns NC_OK.
nc_status nc_store_miss(nc_store_entry *out, nc_store *store, nc_loaded what, nc_error *err);
/// Records a use in the index, and in the file at a limited rate.
void nc_store_record_use(nc_store *store, const nc_store_name *name, const nc_loading *loading);
/// Removes a file of the store from the directory and the index. Returns 0 or errno.
int nc_store_discard(nc_store *store, const nc_store_name *name);
/// Removes a damaged or expired file and counts it, unless another file has taken its name. Ignores failures.
void nc_store_sweep(nc_store *store, const nc_store_name *name, const nc_loading *loading);

/* --- scan.c: the directory --- */

/// Reads the directory, rebuilds the index and removes temporary files of killed processes. `leftovers` receives the
/// number of these, `foreign` the number of files that do not belong to a store; both may be NULL.
NC_NODISCARD nc_status nc_store_scan(nc_store *store, uint64_t *leftovers, uint64_t *foreign, nc_error *err);
/// Evicts the least recently used entries until the limits are met. Called under the mutex.
void nc_store_make_room(nc_store *store);
/// Scans the directory if enough has changed since the last scan and another store has the directory open.
void nc_store_scan_if_shared(nc_store *store);

/* --- directory.c: the directory itself --- */

/// Opens the directory and locks a byte of its lock file; creates both if they are missing.
NC_NODISCARD nc_status nc_store_open_directory(nc_store *store, nc_error *err);
/// Returns true if the open directory was removed.
NC_NODISCARD bool nc_store_is_removed(const nc_store *store);
/// Creates the directory again if it was removed, with the checks of nc_store_new().
NC_NODISCARD nc_status nc_store_recreate_directory(nc_store *store, nc_error *err);
/// Writes the CACHEDIR.TAG; ignores a failure.
void nc_store_write_tag(nc_store *store);

#endif
