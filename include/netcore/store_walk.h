/// Lists and verifies a store's entries, and reads and writes their bodies in pieces.
///
/// Listing reads only the heads of the entries' files; verification reads all bytes. Readers and writers are for bodies
/// that are too large for memory. A reader checks the whole body before it returns the first byte. An entry that is
/// written in pieces becomes visible when its writer commits it. The rules of store.h apply. **Every call may wait for
/// the disk.**
///
///     if (nc_store_writer_new(&writer, store, &draft, &err) == NC_OK)
///         while (status == NC_OK && has_more(&piece))
///             status = nc_store_writer_append(writer, piece, &err);
///     if (status == NC_OK) status = nc_store_writer_commit(writer, &err);
///     nc_store_writer_free(writer);
#ifndef NETCORE_STORE_WALK_H
#define NETCORE_STORE_WALK_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>
#include <netcore/store.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Receives one entry without its body, borrowed for the call. Returning false ends the listing. No lock is held, so it
/// may call the store.
typedef bool (*nc_store_entry_fn)(void *NC_NULLABLE ctx, const nc_store_entry *entry);

/// Lists all entries, including those of other processes, in no order. Heads are checked; bodies are not read.
///
/// Damaged files and expired entries are removed. Entries encrypted with another key are skipped.
/// Returns NC_OK, NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_list(nc_store *store, nc_store_entry_fn visit, void *NC_NULLABLE ctx,
                                            nc_error *NC_NULLABLE err);

/// Returns the next tag in `tag` and removes it from `rest`. Returns false if there are no more tags. Empty tags are
/// skipped.
///
/// - tag:  borrowed from `rest`.
/// - rest: initially the entry's `tags`.
/// Pure; call from any thread.
NC_API bool nc_store_next_tag(nc_slice *tag, nc_slice *rest);

/// The result of a verification.
typedef struct nc_store_report {
    /// Valid entries.
    uint64_t good;
    /// Bytes of their files.
    uint64_t bytes;
    /// Damaged files with an entry's name; removed.
    uint64_t damaged;
    /// Expired entries; removed.
    uint64_t expired;
    /// Entries that cannot be read with this store's options: encrypted with another key, encrypted while the store has
    /// no key, or unencrypted while it has one.
    uint64_t locked;
    /// Temporary files of killed processes; removed.
    uint64_t leftovers;
    /// Other files in the directory; kept.
    uint64_t foreign;
} nc_store_report;

/// Reads the whole directory and every byte of every entry. Removes damaged, leftover and expired files.
///
/// Returns NC_OK, NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_verify(nc_store_report *out, nc_store *store, nc_error *NC_NULLABLE err);

/* --- bodies in pieces --- */

/// An entry that is being read. It stays readable after it is replaced or removed.
typedef struct nc_store_reader nc_store_reader;

/// Finds an entry, checks every byte, and returns a reader at the start of its body.
///
/// - out: owned by the caller; release it with nc_store_reader_free(). NULL unless `entry->found` is NC_STORE_HIT.
/// - entry: the entry with an empty body. Its slices are valid as long as the reader.
/// Otherwise as nc_store_get().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_reader_new(nc_store_reader *NC_NULLABLE *NC_NONNULL out, nc_store_entry *entry,
                                                  nc_store *store, nc_slice key, nc_error *NC_NULLABLE err);

/// Reads the next bytes, at most `room_bytes`, and writes their number to `got`. 0 means the end.
///
/// Returns NC_OK, NC_ERR_USAGE if `room_bytes` is 0, NC_ERR_FILE if the file cannot be read or has changed.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_store_reader_read(size_t *got, nc_store_reader *reader, uint8_t *into,
                                                   size_t room_bytes, nc_error *NC_NULLABLE err);

/// Frees a reader. Call it before nc_store_free(). NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_store_reader_free(nc_store_reader *NC_NULLABLE reader);

/// An entry that is being written. It is not visible to lookups until it is committed.
typedef struct nc_store_writer nc_store_writer;

/// Begins an entry whose body follows in pieces. The draft's slices are copied.
///
/// - out: owned by the caller; release it with nc_store_writer_free().
/// Returns as nc_store_put().
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_writer_new(nc_store_writer *NC_NULLABLE *NC_NONNULL out, nc_store *store,
                                                  const nc_store_draft *draft, nc_error *NC_NULLABLE err);

/// Appends to the body. After an error only nc_store_writer_free() is allowed.
///
/// Returns the statuses of nc_store_put(): NC_ERR_TOO_LARGE when the entry exceeds its limit, NC_ERR_USAGE after an
/// error or the commit.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_store_writer_append(nc_store_writer *writer, nc_slice bytes,
                                                     nc_error *NC_NULLABLE err);

/// Completes the entry and makes it visible. A writer commits at most once.
///
/// Returns the statuses of nc_store_put(), and NC_ERR_USAGE after an error or a commit.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_store_writer_commit(nc_store_writer *writer, nc_error *NC_NULLABLE err);

/// Frees a writer and discards an uncommitted entry. Call it before nc_store_free(). NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_store_writer_free(nc_store_writer *NC_NULLABLE writer);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
