/// A store from the inside: what its files share, and how they touch the disk.
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

/// How long after its last note a use is noted in the file's time of change, for whoever opens the store next; and how
/// many are noted at once, and how often one more. A note makes a file's inode dirty, which costs several reads: many
/// entries that are each used now and then are not to pay it at every use.
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
    bool is_shared; // others can make names in it
    int lock_fd;    // -1 where there are no locks
    uint64_t instance;
    nc_seal *seal; // NULL when entries are not sealed
    nc_random random;
    atomic_uint_fast64_t part_number;
    pthread_mutex_t place_mutex; // held while a removed directory is made again

    /// Guards what follows, and is held while a name in the directory changes, so that both agree.
    pthread_mutex_t mutex;
    nc_digest *md5;
    nc_index index;
    nc_store_stats stats;
    int64_t noted_at_ms; // since when `notes` were not added to
    int64_t notes;       // that may still be made
    uint64_t changes_since_scan;
    uint64_t bytes_since_scan;
};

/* --- files.c: system calls with their retries and their words --- */

/// NC_ERR_FILE, NC_ERR_DESCRIPTORS or NC_ERR_NO_MEMORY for an errno; `name` is a file of the store, NULL for itself.
nc_status nc_store_fail(const nc_store *store, nc_error *err, int code, const char *name, const char *what);
/// -1 and errno. Never follows a link and never waits, and opens nothing that another user could have written.
int nc_store_open_file(const nc_store *store, const char *name, int flags);
/// Reads until `length` or the end of the file; -1 and errno.
ssize_t nc_store_read(const nc_store *store, int fd, uint8_t *bytes, size_t length);
/// The same at a place.
ssize_t nc_store_read_at(const nc_store *store, int fd, uint8_t *bytes, size_t length, uint64_t offset);
/// 0, or errno. Writes on after short writes.
int nc_store_write(const nc_store *store, int fd, nc_slice bytes);
int nc_store_write_at(const nc_store *store, int fd, nc_slice bytes, uint64_t offset);
int nc_store_sync(const nc_store *store, int fd);
/// 0, or errno.
int nc_store_status(const nc_store *store, int fd, struct stat *out);
int nc_store_status_at(const nc_store *store, const char *name, struct stat *out);
/// Sets a mode that `info` has not yet. 0, or errno.
int nc_store_set_mode(const nc_store *store, int fd, const struct stat *info, mode_t mode);
/// Syncs the directory if the durability asks for it. 0, or errno.
int nc_store_sync_directory(const nc_store *store);
/// Removes a name, an empty directory too. 0, or errno; a name that is not there is no error.
int nc_store_unlink(const nc_store *store, const char *name);
/// Whether an open failed, or reading did, because what bears the name is no file of ours.
bool nc_store_is_foreign(int code);
int64_t nc_store_now_ms(const nc_store *store);

/* --- part.c: files that nobody sees yet --- */

typedef struct nc_store_part {
    int fd; // -1 when there is none
    char name[NC_PART_NAME_BYTES];
} nc_store_part;

/// Makes an empty file with mode 0600. NC_OK, or as nc_store_fail().
NC_NODISCARD nc_status nc_store_part_open(nc_store_part *out, nc_store *store, nc_error *err);
/// Syncs (as the durability says) and closes; the file stays.
NC_NODISCARD nc_status nc_store_part_close(nc_store_part *part, const nc_store *store, nc_error *err);
/// Closes and removes; harmless when there is none.
void nc_store_part_drop(nc_store_part *part, const nc_store *store);
/// Gives the closed part an entry's name, remembers it, and makes room. On failure the part is gone.
NC_NODISCARD nc_status nc_store_part_commit(nc_store_part *part, nc_store *store, nc_slice key, uint64_t file_bytes,
                                            nc_error *err);

/* --- load.c: entries from their files --- */

/// What a file is to a look-up.
typedef NC_ENUM(nc_loaded){
    NC_LOADED_HIT, NC_LOADED_ABSENT, NC_LOADED_OTHER_KEY, NC_LOADED_EXPIRED, NC_LOADED_DAMAGED, NC_LOADED_LOCKED,
} nc_loaded;

/// A file that was opened, and its front: header and texts, checked, texts in clear.
typedef struct nc_loading {
    int fd; // -1 when there is none; the caller closes it
    nc_loaded what;
    nc_entry_head head;
    nc_cipher *cipher; // for a sealed body; the caller frees it
} nc_loading;

/// What to read.
typedef struct nc_wanted {
    const nc_store_name *name;
    nc_slice key;            // empty: whichever
    uint64_t expected_bytes; // how long the file probably is
    bool whole;              // with the body, behind the texts in `room` and in clear
} nc_wanted;

/// Opens a file and reads its front, and its body too if that is wanted, into `room` (emptied first).
/// NC_OK with `out->what`; otherwise nothing is left open. nc_loading_end() in either case.
NC_NODISCARD nc_status nc_store_load(nc_loading *out, nc_store *store, const nc_wanted *wanted, nc_buf *room,
                                     nc_error *err);
void nc_loading_end(nc_loading *loading, const nc_store *store);
/// Checks the body of a front that is a hit, piece by piece through `room` (NC_ENTRY_PIECE_BYTES and a tag of room).
NC_NODISCARD nc_status nc_store_check_body(nc_loading *loading, const nc_store *store, uint8_t *room, nc_error *err);
/// Opens piece `number` of a sealed body in place; false when it does not open.
NC_NODISCARD bool nc_store_open_piece(nc_cipher *cipher, uint8_t *bytes, size_t length, uint64_t number);

/* --- locate.c: names of keys, and what is remembered of them --- */

/// Where a key may be.
typedef struct nc_places {
    nc_store_name name; // its slot changes as one walks
    uint64_t file_bytes[NC_STORE_SLOTS];
} nc_places;

NC_NODISCARD nc_status nc_store_locate(nc_places *out, nc_store *store, nc_slice key, nc_error *err);
/// Loads the file of a key, whichever slot it is in; sweeps damaged and expired ones on the way. `places->name` is then
/// its name. `found` and `out` as for nc_store_load(); NC_LOADED_ABSENT when no slot has it.
NC_NODISCARD nc_status nc_store_find(nc_loading *out, nc_places *places, nc_store *store, nc_wanted wanted,
                                     nc_buf *room, nc_error *err);
/// Counts a look-up that found nothing, and says so in `out`. NC_OK.
nc_status nc_store_miss(nc_store_entry *out, nc_store *store, nc_loaded what, nc_error *err);
/// Notes a use, in memory and now and then in the file.
void nc_store_note_use(nc_store *store, const nc_store_name *name, const nc_loading *loading);
/// Removes a file of ours from the directory and from memory. 0, or errno.
int nc_store_discard(nc_store *store, const nc_store_name *name);
/// Removes what was loaded as damaged or expired, if it is still there; counts it, and never fails.
void nc_store_sweep(nc_store *store, const nc_store_name *name, const nc_loading *loading);

/* --- scan.c: the directory --- */

/// Reads the directory, forgets what was remembered and remembers what is there; removes leftovers. `leftovers` and
/// `foreign` (which may be NULL) are how many there were.
NC_NODISCARD nc_status nc_store_scan(nc_store *store, uint64_t *leftovers, uint64_t *foreign, nc_error *err);
/// Removes what was used longest ago until the limits hold. Under the mutex.
void nc_store_make_room(nc_store *store);
/// Scans when enough has changed since, and another store has the directory open.
void nc_store_scan_if_shared(nc_store *store);

/* --- place.c: the directory itself --- */

/// Opens the directory and takes a place in it; makes what is missing.
NC_NODISCARD nc_status nc_store_open_place(nc_store *store, nc_error *err);
/// Whether the directory was removed, although it is open.
NC_NODISCARD bool nc_store_is_removed(const nc_store *store);
/// Makes a directory that was removed again, under the rules of opening one; does nothing where it is there.
NC_NODISCARD nc_status nc_store_revive(nc_store *store, nc_error *err);
/// Writes the CACHEDIR.TAG; it is no failure when that cannot be done.
void nc_store_write_tag(nc_store *store);
/// Whether the store with this number has the directory open. True when nobody knows.
NC_NODISCARD bool nc_store_is_alive(const nc_store *store, uint64_t instance);
/// Whether another store has the directory open. False when nobody knows.
NC_NODISCARD bool nc_store_is_shared(const nc_store *store);

#endif
