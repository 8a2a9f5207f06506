/// The internal interface of a store: shared state and file access.
#ifndef NETCORE_PRIVATE_STORE_STATE_H
#define NETCORE_PRIVATE_STORE_STATE_H

#include "digest/seal.h"
#include "store/format.h"
#include "store/index.h"
#include "store/names.h"

#include <netcore/digest.h>
#include <netcore/store.h>
#include <netcore/store_walk.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/// Rate limits for writing a use to the file's modification time, from which the next process orders the entries: the
/// minimum interval for one entry, the burst, and the interval of one more. A write makes the inode dirty, which costs
/// as much as several reads.
enum { NC_STORE_USE_STEP_MS = 60000, NC_STORE_MAX_NOTES = 64, NC_STORE_NOTE_STEP_MS = 20 };

struct nc_store {
    nc_file_ops files;
    nc_clock clock;
    uint64_t max_bytes;
    uint64_t max_entry_bytes;
    uint32_t max_entries;
    nc_store_durability durability;
    char *path; // for messages
    int directory_fd;
    bool is_shared; // other users can create files in it
    int lock_fd;    // -1 if the system has no locks
    uint64_t instance;
    nc_seal *seal; // NULL if entries are not sealed
    nc_random random;
    atomic_uint_fast64_t part_number;
    pthread_mutex_t place_mutex; // held while a removed directory is recreated

    /// Guards the following fields. Held while a name in the directory changes, so that index and directory agree.
    pthread_mutex_t mutex;
    nc_digest *md5;
    nc_index index;
    nc_store_stats stats;
    int64_t noted_at_ms; // time of the last increase of `notes`
    int64_t notes;       // writes that are still allowed
    uint64_t changes_since_scan;
    uint64_t bytes_since_scan;
};

/* --- files.c: system calls with their retries and their words --- */

/// Returns NC_ERR_FILE, NC_ERR_DESCRIPTORS or NC_ERR_NO_MEMORY for an errno. `name` is a file of the store, or NULL for
/// the directory.
nc_status nc_store_fail(const nc_store *store, nc_error *err, int code, const char *name, const char *what);
/// Opens a file. Returns -1 and errno on failure. Never follows a symbolic link, never blocks, and refuses a file that
/// another user could have written.
int nc_store_open_file(const nc_store *store, const char *name, int flags);
/// Reads until `length` or the end of the file. Returns -1 and errno on failure.
ssize_t nc_store_read(const nc_store *store, int fd, uint8_t *bytes, size_t length);
/// Reads at an offset, otherwise as nc_store_read().
ssize_t nc_store_read_at(const nc_store *store, int fd, uint8_t *bytes, size_t length, uint64_t offset);
/// Writes all bytes. Returns 0 or errno.
int nc_store_write(const nc_store *store, int fd, nc_slice bytes);
int nc_store_write_at(const nc_store *store, int fd, nc_slice bytes, uint64_t offset);
int nc_store_sync(const nc_store *store, int fd);
/// 0, or errno.
int nc_store_status(const nc_store *store, int fd, struct stat *out);
int nc_store_status_at(const nc_store *store, const char *name, struct stat *out);
/// Sets the mode if `info` has another one. Returns 0 or errno.
int nc_store_set_mode(const nc_store *store, int fd, const struct stat *info, mode_t mode);
/// Syncs the directory if the durability requires it. Returns 0 or errno.
int nc_store_sync_directory(const nc_store *store);
/// Removes a file or an empty directory. Returns 0 or errno; a missing name is not an error.
int nc_store_unlink(const nc_store *store, const char *name);
/// Returns true if the errno means that the name is not one of the store's files.
bool nc_store_is_foreign(int code);
int64_t nc_store_now_ms(const nc_store *store);

/* --- part.c: files that nobody sees yet --- */

typedef struct nc_store_part {
    int fd; // -1 when there is none
    char name[NC_PART_NAME_BYTES];
} nc_store_part;

/// Creates an empty temporary file with mode 0600. Returns NC_OK or the status of nc_store_fail().
NC_NODISCARD nc_status nc_store_part_open(nc_store_part *out, nc_store *store, nc_error *err);
/// Syncs (if the durability requires it) and closes. The file stays.
NC_NODISCARD nc_status nc_store_part_close(nc_store_part *part, const nc_store *store, nc_error *err);
/// Closes and removes the temporary file, if there is one.
void nc_store_part_drop(nc_store_part *part, const nc_store *store);
/// Renames the closed temporary file to an entry's name, adds it to the index, and evicts. On failure the file is
/// removed.
NC_NODISCARD nc_status nc_store_part_commit(nc_store_part *part, nc_store *store, nc_slice key, uint64_t file_bytes,
                                            nc_error *err);

/* --- load.c: entries from their files --- */

/// The result of loading a file.
typedef NC_ENUM(nc_loaded){
    NC_LOADED_HIT, NC_LOADED_ABSENT, NC_LOADED_OTHER_KEY, NC_LOADED_EXPIRED, NC_LOADED_DAMAGED, NC_LOADED_LOCKED,
} nc_loaded;

/// An open file and its front: verified header and unsealed texts.
typedef struct nc_loading {
    int fd; // -1 when there is none; the caller closes it
    nc_loaded what;
    nc_entry_head head;
    nc_cipher *cipher; // for a sealed body; freed by the caller
} nc_loading;

/// What to read.
typedef struct nc_wanted {
    const nc_store_name *name;
    nc_slice key;            // empty for any key
    uint64_t expected_bytes; // the probable size of the file
    bool whole;              // also the body, unsealed, after the texts in `room`
} nc_wanted;

/// Opens a file and reads its front, and its body if wanted, into `room`, which is emptied first.
/// Returns NC_OK with `out->what`; otherwise no file is left open. Call nc_loading_end() in both cases.
NC_NODISCARD nc_status nc_store_load(nc_loading *out, nc_store *store, const nc_wanted *wanted, nc_buf *room,
                                     nc_error *err);
void nc_loading_end(nc_loading *loading, const nc_store *store);
/// Verifies the body of a hit piece by piece. `room` has NC_ENTRY_PIECE_BYTES and space for a tag.
NC_NODISCARD nc_status nc_store_check_body(nc_loading *loading, const nc_store *store, uint8_t *room, nc_error *err);
/// Unseals piece `number` of a body in place. Returns false if it is not authentic.
NC_NODISCARD bool nc_store_open_piece(nc_cipher *cipher, uint8_t *bytes, size_t length, uint64_t number);

/* --- locate.c: names of keys, and what is remembered of them --- */

/// The possible slots of a key.
typedef struct nc_places {
    nc_store_name name; // its slot changes during the search
    uint64_t file_bytes[NC_STORE_SLOTS];
} nc_places;

NC_NODISCARD nc_status nc_store_locate(nc_places *out, nc_store *store, nc_slice key, nc_error *err);
/// Loads the file of a key from any slot and removes damaged and expired files on the way. `places->name` receives the
/// name. `out` as for nc_store_load(); NC_LOADED_ABSENT if no slot has the key.
NC_NODISCARD nc_status nc_store_find(nc_loading *out, nc_places *places, nc_store *store, nc_wanted wanted,
                                     nc_buf *room, nc_error *err);
/// Counts a miss and records it in `out`. Returns NC_OK.
nc_status nc_store_miss(nc_store_entry *out, nc_store *store, nc_loaded what, nc_error *err);
/// Records a use in the index, and at a limited rate in the file.
void nc_store_note_use(nc_store *store, const nc_store_name *name, const nc_loading *loading);
/// Removes a file of the store from the directory and the index. Returns 0 or errno.
int nc_store_discard(nc_store *store, const nc_store_name *name);
/// Removes a damaged or expired file if it is unchanged, and counts it. Never fails.
void nc_store_sweep(nc_store *store, const nc_store_name *name, const nc_loading *loading);

/* --- scan.c: the directory --- */

/// Reads the directory, rebuilds the index and removes abandoned files. `leftovers` and `foreign` receive their
/// numbers; both may be NULL.
NC_NODISCARD nc_status nc_store_scan(nc_store *store, uint64_t *leftovers, uint64_t *foreign, nc_error *err);
/// Evicts the least recently used entries until the limits hold. Called under the mutex.
void nc_store_make_room(nc_store *store);
/// Scans if enough has changed since the last scan and another store has the directory open.
void nc_store_scan_if_shared(nc_store *store);

/* --- place.c: the directory itself --- */

/// Opens the directory and locks a byte of its lock file; creates both if they are missing.
NC_NODISCARD nc_status nc_store_open_place(nc_store *store, nc_error *err);
/// Returns true if the open directory was removed.
NC_NODISCARD bool nc_store_is_removed(const nc_store *store);
/// Recreates a removed directory under the rules of opening one. Does nothing if it exists.
NC_NODISCARD nc_status nc_store_revive(nc_store *store, nc_error *err);
/// Writes the CACHEDIR.TAG; ignores a failure.
void nc_store_write_tag(nc_store *store);
/// Returns true if the store with this number has the directory open, or if that is unknown.
NC_NODISCARD bool nc_store_is_alive(const nc_store *store, uint64_t instance);
/// Returns true if another store has the directory open; false if that is unknown.
NC_NODISCARD bool nc_store_is_shared(const nc_store *store);

#endif
