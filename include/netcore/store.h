/// A disk store of entries: one file per entry, and each entry is either complete or absent.
///
/// An entry is a body with a key, a host, tags and metadata. The store does not interpret these bytes. An entry can
/// have a lifetime; rules of freshness (RFC 9111) are left to the caller.
///
/// - One rename(2) makes an entry visible. Each process sees the old entry, the new one or none, also after `kill -9`.
/// - Checksums cover every byte, so that a file that a power failure damaged is detected.
/// - If a file has an entry's name but is damaged or not an entry, the lookup is a miss and the file is removed. Files
///   with other names are kept.
/// - Keys are compared as a whole. Two keys with the same digest have separate entries.
///
/// **Every call may wait for the disk.** Never call it on an engine's loop thread.
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

/// The default of nc_store_options.max_bytes: 256 MiB.
#define NC_STORE_DEFAULT_MAX_BYTES (UINT64_C(256) * 1024 * 1024)
/// The default of nc_store_options.max_entries.
#define NC_STORE_DEFAULT_MAX_ENTRIES 100000
/// The default of nc_store_options.max_share, in percent.
#define NC_STORE_DEFAULT_MAX_SHARE 5
/// The largest key, in bytes.
#define NC_STORE_MAX_KEY_BYTES 1048576
/// The largest metadata, in bytes. Host and tags together have the same limit.
#define NC_STORE_MAX_METADATA_BYTES 1048576
/// A lifetime without an end. The entry lives until it is evicted.
#define NC_STORE_FOREVER UINT64_MAX
/// The size of nc_store_options.seal_key, in bytes.
#define NC_STORE_SEAL_KEY_BYTES 32

/// The durability of a put.
typedef NC_ENUM(nc_store_durability){
    /// No fsync(2): a power failure may lose an entry, but never returns a wrong one.
    NC_STORE_DURABILITY_NONE = 0,
    /// fsync(2) of the file before its rename.
    NC_STORE_DURABILITY_DATA = 1,
    /// Also fsync(2) of the directory after each rename and removal, so that a finished put survives a power failure.
    NC_STORE_DURABILITY_FULL = 2,
} nc_store_durability;

/// Options of a store, copied. Start with NC_STORE_OPTIONS_INIT and set `directory`.
typedef struct nc_store_options {
    /// The directory, NUL-terminated, used by stores only. If it is missing, it is created with its parents. Its mode
    /// is set to 0700.
    const char *NC_NULLABLE directory;
    /// Limit of all files, in bytes; 0 means NC_STORE_DEFAULT_MAX_BYTES.
    uint64_t max_bytes;
    /// Limit of entries; 0 means NC_STORE_DEFAULT_MAX_ENTRIES.
    uint32_t max_entries;
    /// Limit of one entry's file, in percent of `max_bytes`, 1 to 100; 0 means NC_STORE_DEFAULT_MAX_SHARE.
    uint32_t max_share;
    /// Durability.
    nc_store_durability durability;
    /// Encrypts all entries with these NC_STORE_SEAL_KEY_BYTES (AES-256-GCM). File names then disclose no keys. May be
    /// NULL.
    const uint8_t *NC_NULLABLE seal_key;
    /// Clock; NULL means the system's.
    const nc_clock *NC_NULLABLE clock;
    /// Source of random bytes; NULL means the system's.
    const nc_random *NC_NULLABLE random;
    /// File operations; NULL means the system's.
    const nc_file_ops *NC_NULLABLE file_ops;
} nc_store_options;

/// Default options without a directory.
#define NC_STORE_OPTIONS_INIT                                                                                          \
    { NULL, 0, 0, 0, NC_STORE_DURABILITY_NONE, NULL, NULL, NULL, NULL }

/// An open store. Thread-safe. Not for use in a forked child.
typedef struct nc_store nc_store;

/// The description of an entry to put, without its body.
typedef struct nc_store_draft {
    /// Key, 1 to NC_STORE_MAX_KEY_BYTES bytes, such as a request's canonical form (cache_key.h).
    nc_slice key;
    /// Metadata of the caller, such as status, fields and validators of a response.
    nc_slice metadata;
    /// Host for nc_store_remove_host(); may be empty.
    nc_slice host;
    /// Tags for nc_store_remove_tag(), separated by NUL bytes; may be empty.
    nc_slice tags;
    /// Lifetime in milliseconds. After it a lookup is a miss and removes the entry. 0 and NC_STORE_FOREVER mean no end.
    uint64_t lifetime_ms;
    /// Creation time, in milliseconds since 1970; 0 means now.
    int64_t created_at_ms;
} nc_store_draft;

/// The result of a lookup.
typedef NC_ENUM(nc_store_found){
    /// There is no such entry.
    NC_STORE_MISS = 0,
    /// Found; every byte was checked.
    NC_STORE_HIT = 1,
    /// Removed, because its lifetime has ended, or because it has a lifetime and a creation time in the future.
    NC_STORE_EXPIRED = 2,
    /// Removed, because the file is damaged, is not an entry, or is not a regular file.
    NC_STORE_DAMAGED = 3,
} nc_store_found;

/// An entry. Slices are borrowed from the buffer that it was read into.
typedef struct nc_store_entry {
    /// Result of the lookup. The other fields are empty unless it is NC_STORE_HIT.
    nc_store_found found;
    /// As in nc_store_draft.
    nc_slice key;
    /// As in nc_store_draft.
    nc_slice metadata;
    /// As in nc_store_draft.
    nc_slice host;
    /// As in nc_store_draft; nc_store_next_tag() splits them.
    nc_slice tags;
    /// The body; empty in lists and readers.
    nc_slice body;
    /// Length of the body.
    uint64_t body_bytes;
    /// Length of the file.
    uint64_t file_bytes;
    /// Creation time, in milliseconds since 1970. If the clock was set back since, it may be in the future.
    int64_t created_at_ms;
    /// As in nc_store_draft; NC_STORE_FOREVER for none.
    uint64_t lifetime_ms;
} nc_store_entry;

/// Contents of a store, and counters since it was opened.
typedef struct nc_store_stats {
    /// Entries that this process knows. Those of other processes are included after the next scan of the directory.
    uint64_t entries;
    /// Bytes of their files.
    uint64_t bytes;
    /// Limit of these bytes.
    uint64_t max_bytes;
    /// Limit of one entry's file, in bytes.
    uint64_t max_entry_bytes;
    /// Lookups that found an entry.
    uint64_t hits;
    /// Lookups that found none, for any reason.
    uint64_t misses;
    /// Entries removed after their lifetime.
    uint64_t expired;
    /// Damaged or foreign files removed.
    uint64_t damaged;
    /// Entries put.
    uint64_t puts;
    /// Entries removed to make room.
    uint64_t evictions;
    /// Scans of the directory.
    uint64_t scans;
} nc_store_stats;

/// Appends `$XDG_CACHE_HOME/<app>/netkit` and a NUL that is not counted.
///
/// If the variable is missing or not an absolute path, `$HOME/.cache` replaces it. If HOME is missing too, it is
/// `.cache` in the home directory of the user database.
/// - app: one file name: not empty, without '/' and control characters, not "." or "..".
/// Returns NC_OK, NC_ERR_USAGE for a bad name or an unknown home directory, NC_ERR_TOO_LARGE, NC_ERR_NO_MEMORY.
/// Reads the environment: no other thread may change it during the call.
NC_API NC_NODISCARD nc_status nc_store_default_directory(nc_buf *out, const char *app, nc_error *NC_NULLABLE err);

/// Opens a store: creates a missing directory, scans it once, and removes files of killed processes.
///
/// The directory must not be a symbolic link and must belong to this user. Several stores, also of several processes,
/// may open it. If they have the same limits, the limits apply to all stores together. They may be exceeded by one
/// eighth, until a store notices the entries of the others. A directory without other files gets a CACHEDIR.TAG.
/// - out: owned by the caller; release it with nc_store_free().
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_FILE (also if the path is a file, which is not removed), NC_ERR_DESCRIPTORS,
/// NC_ERR_UNSUPPORTED if OpenSSL lacks an algorithm, NC_ERR_NO_MEMORY.
/// Call from any thread.
NC_API NC_NODISCARD nc_status nc_store_new(nc_store *NC_NULLABLE *NC_NONNULL out, const nc_store_options *options,
                                           nc_error *NC_NULLABLE err);

/// Closes and frees a store. Free its readers and writers first. NULL is allowed. The entries stay on the disk.
///
/// Confined: one thread at a time.
NC_API void nc_store_free(nc_store *NC_NULLABLE store);

/// Finds and reads an entry. A miss is not an error. The call allocates nothing if `room` is large enough.
///
/// - room: emptied, then filled with the file. The entry's slices are borrowed from it until it changes.
/// Returns NC_OK with `out->found`, NC_ERR_USAGE for an empty key, NC_ERR_FILE or NC_ERR_DESCRIPTORS if the file cannot
/// be read (the entry stays), NC_ERR_TOO_LARGE if `room` is too small, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_get(nc_store_entry *out, nc_store *store, nc_slice key, nc_buf *room,
                                           nc_error *NC_NULLABLE err);

/// Puts an entry and replaces an older one with the same key. After an error the older one stays.
///
/// The least recently used entries are evicted until the limits are met. If the directory is missing, it is created.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_TOO_LARGE (the entry, or its key, metadata, host and tags exceed a limit),
/// NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_put(nc_store *store, const nc_store_draft *draft, nc_slice body,
                                           nc_error *NC_NULLABLE err);

/// Removes an entry. It is not an error if the entry is missing.
///
/// - removed: 1 or 0 on success; may be NULL.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove(uint64_t *NC_NULLABLE removed, nc_store *store, nc_slice key,
                                              nc_error *NC_NULLABLE err);

/// Removes the entries with this tag. It reads the head of every entry.
///
/// - removed: the number removed; may be NULL.
/// Otherwise as nc_store_remove().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove_tag(uint64_t *NC_NULLABLE removed, nc_store *store, nc_slice tag,
                                                  nc_error *NC_NULLABLE err);

/// Removes the entries of this host, ignoring the case of ASCII letters. It reads the head of every entry.
///
/// - removed: the number removed; may be NULL.
/// Otherwise as nc_store_remove().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove_host(uint64_t *NC_NULLABLE removed, nc_store *store, nc_slice host,
                                                   nc_error *NC_NULLABLE err);

/// Removes every entry, including those encrypted with another key.
///
/// - removed: the number removed; may be NULL.
/// Otherwise as nc_store_remove().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_remove_all(uint64_t *NC_NULLABLE removed, nc_store *store,
                                                  nc_error *NC_NULLABLE err);

/// Returns the contents and counters of the store. Reads no file.
///
/// Thread-safe.
NC_API nc_store_stats nc_store_figures(nc_store *store);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
