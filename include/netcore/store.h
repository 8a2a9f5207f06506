/// A directory of entries, each one file, each whole or absent.
///
/// An entry is a body with its key, host, tags and metadata, which are bytes that mean nothing to the store. What is
/// put appears by one rename: whoever reads, in whatever process, sees the old entry, the new one or none, also after
/// `kill -9` and, as every byte is checked, after a power failure. Damaged and foreign files under an entry's name are
/// a miss and are removed; files with other names are left alone. Keys are compared whole: two keys with one digest
/// are two entries. The store refuses to decide what is fresh: it knows a lifetime, no policy.
///
/// **Every call may wait for the disk**: it belongs on a thread that may, never on an engine's loop.
///
///     nc_store_options options = NC_STORE_OPTIONS_INIT;
///     options.directory = "/home/me/.cache/app/netkit";
///     if (nc_store_new(&store, &options, &err) == NC_OK)
///         status = nc_store_put(store, &(nc_store_draft){.key = key}, body, &err);
///     if (nc_store_get(&entry, store, key, &room, &err) == NC_OK && entry.found == NC_STORE_HIT)
///         use(entry.body);
#ifndef NETCORE_STORE_H
#define NETCORE_STORE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/hooks.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Bytes of all files together, unless told otherwise: 256 MiB.
#define NC_STORE_DEFAULT_MAX_BYTES (UINT64_C(256) * 1024 * 1024)
/// Entries, unless told otherwise.
#define NC_STORE_DEFAULT_MAX_ENTRIES 100000
/// The part of `max_bytes` that one entry may take, unless told otherwise: percent.
#define NC_STORE_DEFAULT_MAX_SHARE 5
/// Bytes of a key at most.
#define NC_STORE_MAX_KEY_BYTES 1048576
/// Bytes of metadata at most, and of a host and all tags together.
#define NC_STORE_MAX_METADATA_BYTES 1048576
/// The lifetime of what lives until it is evicted.
#define NC_STORE_FOREVER UINT64_MAX
/// Bytes of the key that entries are sealed under.
#define NC_STORE_SEAL_KEY_BYTES 32

/// What is waited for before a put is over.
typedef NC_ENUM(nc_store_durability){
    /// Nothing: after a power failure an entry may be gone, never wrong.
    NC_STORE_DURABILITY_NONE = 0,
    /// fsync(2) of the file before its rename.
    NC_STORE_DURABILITY_DATA = 1,
    /// That, and fsync(2) of the directory after each rename and removal: what was put stays put.
    NC_STORE_DURABILITY_FULL = 2,
} nc_store_durability;

/// How a store is opened; NC_STORE_OPTIONS_INIT and a directory are enough. Copied.
typedef struct nc_store_options {
    /// The store's own directory, made with its parents when it is missing and set to mode 0700; NUL-terminated.
    const char *NC_NULLABLE directory;
    /// Bytes of all files together; 0 means NC_STORE_DEFAULT_MAX_BYTES.
    uint64_t max_bytes;
    /// Entries; 0 means NC_STORE_DEFAULT_MAX_ENTRIES.
    uint32_t max_entries;
    /// Percent of `max_bytes` that one entry may take, 1 to 100; 0 means NC_STORE_DEFAULT_MAX_SHARE.
    uint32_t max_share;
    /// What is waited for.
    nc_store_durability durability;
    /// NC_STORE_SEAL_KEY_BYTES that everything is encrypted under (AES-256-GCM), or NULL. Names do not tell keys then.
    const uint8_t *NC_NULLABLE seal_key;
    /// Where time comes from; NULL means the system.
    const nc_clock *NC_NULLABLE clock;
    /// Where random bytes come from; NULL means the system.
    const nc_random *NC_NULLABLE random;
    /// File operations; NULL means the system.
    const nc_file_ops *NC_NULLABLE file_ops;
} nc_store_options;

/// Options that lack only a directory.
#define NC_STORE_OPTIONS_INIT                                                                                          \
    { NULL, 0, 0, 0, NC_STORE_DURABILITY_NONE, NULL, NULL, NULL, NULL }

/// A directory that is open. Thread-safe; not for use in a forked child.
typedef struct nc_store nc_store;

/// What an entry is put with; the body comes beside it.
typedef struct nc_store_draft {
    /// What it is found by: 1 to NC_STORE_MAX_KEY_BYTES bytes, such as a request's description (cache_key.h).
    nc_slice key;
    /// What the caller wants to know of it later: status, fields, validators, versions.
    nc_slice metadata;
    /// The host it came from, for nc_store_remove_host(); may be empty.
    nc_slice host;
    /// Its tags, separated by NUL bytes, for nc_store_remove_tag(); may be empty.
    nc_slice tags;
    /// Milliseconds after which it is a miss and removed; 0 and NC_STORE_FOREVER mean never.
    uint64_t lifetime_ms;
    /// When it was made, where it is not made now: milliseconds since 1970; 0 means now.
    int64_t created_at_ms;
} nc_store_draft;

/// How a look-up ended.
typedef NC_ENUM(nc_store_found){
    /// There is no such entry.
    NC_STORE_MISS = 0,
    /// There is, and every byte of it was checked.
    NC_STORE_HIT = 1,
    /// There was, but its lifetime is over, or it is from the clock's future and has a lifetime; it was removed.
    NC_STORE_EXPIRED = 2,
    /// There was a file of its name that is damaged, foreign or no file at all; it was removed.
    NC_STORE_DAMAGED = 3,
} nc_store_found;

/// What is known of an entry. Slices are borrowed from where it was read into.
typedef struct nc_store_entry {
    /// How the look-up ended; the rest is empty unless it is NC_STORE_HIT.
    nc_store_found found;
    /// As in the draft.
    nc_slice key;
    /// As in the draft.
    nc_slice metadata;
    /// As in the draft.
    nc_slice host;
    /// As in the draft; nc_store_next_tag() takes them apart.
    nc_slice tags;
    /// The body; empty in lists and readers.
    nc_slice body;
    /// How long the body is.
    uint64_t body_bytes;
    /// How long the file is.
    uint64_t file_bytes;
    /// When it was put: milliseconds since 1970 on the clock of then, which may be later than now.
    int64_t created_at_ms;
    /// As in the draft; NC_STORE_FOREVER for none.
    uint64_t lifetime_ms;
} nc_store_entry;

/// What a store holds, and what happened since it was opened.
typedef struct nc_store_stats {
    /// Entries, as far as this process knows: what others put is counted when the directory is next read.
    uint64_t entries;
    /// Bytes of their files.
    uint64_t bytes;
    /// The limit on them.
    uint64_t max_bytes;
    /// The limit on one entry's file.
    uint64_t max_entry_bytes;
    /// Look-ups that found an entry.
    uint64_t hits;
    /// Look-ups that did not, for whatever reason.
    uint64_t misses;
    /// Entries that were removed because their lifetime was over.
    uint64_t expired;
    /// Files that were removed because they were damaged or foreign.
    uint64_t damaged;
    /// Entries that were put.
    uint64_t puts;
    /// Entries that were removed to make room.
    uint64_t evictions;
    /// Times that the directory was read.
    uint64_t scans;
} nc_store_stats;

/// Appends `$XDG_CACHE_HOME/<app>/netkit` and a NUL that is not counted; without that variable (or when it is no
/// absolute path) `$HOME/.cache` stands for it, or the same in the user database's home.
///
/// - app: one name: not empty, no '/', no control character, neither "." nor "..".
/// Returns NC_OK, NC_ERR_USAGE for a bad name or when no home is known, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Reads the environment: not while another thread writes it.
NC_API NC_NODISCARD nc_status nc_store_default_directory(nc_buf *out, const char *app, nc_error *NC_NULLABLE err);

/// Opens a store: makes the directory where it is missing, reads it once, removes what killed processes left.
///
/// The directory itself may not be a symbolic link and has to belong to this user. Any number of stores may have the
/// same one open; a limit holds for all of them when each has the same, but for an eighth that each may put before it
/// looks for what others have put. One without foreign files gets a CACHEDIR.TAG.
/// - out: owned by the caller; release with nc_store_free().
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_FILE (a file in the directory's place among them; it is never removed),
/// NC_ERR_DESCRIPTORS, NC_ERR_UNSUPPORTED when OpenSSL lacks an algorithm, NC_ERR_NO_MEMORY. Call from any thread.
NC_API NC_NODISCARD nc_status nc_store_new(nc_store *NC_NULLABLE *NC_NONNULL out, const nc_store_options *options,
                                           nc_error *NC_NULLABLE err);

/// Closes a store, of which no reader or writer is left, and frees it; NULL is allowed. The entries stay.
///
/// Confined: one thread at a time.
NC_API void nc_store_free(nc_store *NC_NULLABLE store);

/// Finds an entry and reads it whole; a miss is no error. Allocates nothing once `room` is large enough.
///
/// - room:  emptied, then filled with the file; the entry's slices point into it until it is next changed.
/// Returns NC_OK with `out->found`, NC_ERR_USAGE for an empty key, NC_ERR_FILE or NC_ERR_DESCRIPTORS when the system
/// could not read (the entry stays), NC_ERR_TOO_LARGE when `room` is too small, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_get(nc_store_entry *out, nc_store *store, nc_slice key, nc_buf *room,
                                           nc_error *NC_NULLABLE err);

/// Puts an entry in the place of an older one with this key; on failure the older one stays.
///
/// What was used longest ago is removed until the limits hold. A directory that was removed is made again, as
/// nc_store_new() makes it.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_TOO_LARGE for what is over its share or a text over its limit, NC_ERR_FILE,
/// NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_put(nc_store *store, const nc_store_draft *draft, nc_slice body,
                                           nc_error *NC_NULLABLE err);

/// Removes an entry; that there is none is no error.
///
/// - removed: set to 1 or 0 on success; may be NULL.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove(uint64_t *NC_NULLABLE removed, nc_store *store, nc_slice key,
                                              nc_error *NC_NULLABLE err);

/// Removes the entries with this tag; reads the head of every entry.
///
/// - removed: how many there were; may be NULL. Otherwise as nc_store_remove(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove_tag(uint64_t *NC_NULLABLE removed, nc_store *store, nc_slice tag,
                                                  nc_error *NC_NULLABLE err);

/// Removes the entries of this host, whatever the case of its ASCII letters; reads the head of every entry.
///
/// - removed: how many there were; may be NULL. Otherwise as nc_store_remove(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove_host(uint64_t *NC_NULLABLE removed, nc_store *store, nc_slice host,
                                                   nc_error *NC_NULLABLE err);

/// Removes every entry, those sealed under another key too.
///
/// - removed: how many there were; may be NULL. Otherwise as nc_store_remove(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove_all(uint64_t *NC_NULLABLE removed, nc_store *store,
                                                  nc_error *NC_NULLABLE err);

/// Tells what the store holds and what happened; touches no file.
///
/// Thread-safe.
NC_API nc_store_stats nc_store_figures(nc_store *store);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
