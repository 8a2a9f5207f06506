/// What takes a store's entries one after the other, and bodies piece by piece.
///
/// A list shows heads without reading bodies; a verification reads everything. A reader and a writer move bodies that
/// are not to be in memory as a whole: the reader has checked all of one before it gives the first byte of it, and
/// what a writer takes appears at its commit, or never. The promises of store.h hold here too, **waiting included**.
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

/// Receives one entry, without its body, for the time of the call; false ends the list. No lock is held.
typedef bool (*nc_store_entry_fn)(void *NC_NULLABLE ctx, const nc_store_entry *entry);

/// Shows every entry's head, in no order; those of other processes too. Heads are checked, bodies are not read.
///
/// Damaged files and entries whose lifetime is over are removed on the way; those sealed under another key are skipped.
/// Returns NC_OK, NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_list(nc_store *store, nc_store_entry_fn visit, void *NC_NULLABLE ctx,
                                            nc_error *NC_NULLABLE err);

/// Takes the next tag off a text of tags; false when there is none left. Empty ones are passed over.
///
/// - tag:  borrowed from `rest`. - rest: begin with the entry's `tags`.
/// Pure; call from any thread.
NC_API bool nc_store_next_tag(nc_slice *tag, nc_slice *rest);

/// What a verification found.
typedef struct nc_store_report {
    /// Entries that are whole.
    uint64_t good;
    /// Bytes of their files.
    uint64_t bytes;
    /// Files under an entry's name that were not; they were removed.
    uint64_t damaged;
    /// Entries whose lifetime was over; they were removed.
    uint64_t expired;
    /// Entries that are sealed under another key, or sealed while the store is not, or the other way round.
    uint64_t locked;
    /// Files of killed processes; they were removed.
    uint64_t leftovers;
    /// Other files of the directory; they were left alone.
    uint64_t foreign;
} nc_store_report;

/// Reads the whole directory and every byte of every entry; removes what is damaged, left over or over its lifetime.
///
/// Returns NC_OK, NC_ERR_FILE, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_verify(nc_store_report *out, nc_store *store, nc_error *NC_NULLABLE err);

/* --- bodies in pieces --- */

/// An entry that is being read; it stays readable when it is replaced or removed.
typedef struct nc_store_reader nc_store_reader;

/// Finds an entry, checks every byte of it, and stands before the first of its body.
///
/// - out: owned by the caller; release with nc_store_reader_free(). NULL unless `entry->found` is NC_STORE_HIT.
/// - entry: what was found, its body empty; its slices live as long as the reader.
/// Otherwise as nc_store_get(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_reader_new(nc_store_reader *NC_NULLABLE *NC_NONNULL out, nc_store_entry *entry,
                                                  nc_store *store, nc_slice key, nc_error *NC_NULLABLE err);

/// Reads on into `into`: as much as fits, 0 bytes at the end alone.
///
/// Returns NC_OK, NC_ERR_USAGE for no room, NC_ERR_FILE when the system cannot read or the file changed under the
/// reader. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_store_reader_read(size_t *got, nc_store_reader *reader, uint8_t *into,
                                                   size_t room_bytes, nc_error *NC_NULLABLE err);

/// Frees a reader; NULL is allowed. Before its store.
///
/// Confined: one thread at a time.
NC_API void nc_store_reader_free(nc_store_reader *NC_NULLABLE reader);

/// An entry that is being written; nobody sees it yet.
typedef struct nc_store_writer nc_store_writer;

/// Begins an entry whose body comes in pieces; the draft's slices are copied.
///
/// - out: owned by the caller; release with nc_store_writer_free().
/// Returns as nc_store_put(). Thread-safe.
NC_API NC_NODISCARD nc_status nc_store_writer_new(nc_store_writer *NC_NULLABLE *NC_NONNULL out, nc_store *store,
                                                  const nc_store_draft *draft, nc_error *NC_NULLABLE err);

/// Adds to the body. After a failure there is nothing but nc_store_writer_free().
///
/// Returns as nc_store_put(); NC_ERR_TOO_LARGE as soon as the entry is over its share; NC_ERR_USAGE after a failure or
/// the commit. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_store_writer_append(nc_store_writer *writer, nc_slice bytes,
                                                     nc_error *NC_NULLABLE err);

/// Puts the entry in its place, once.
///
/// Returns as nc_store_put(); NC_ERR_USAGE after a failure or a commit. Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_store_writer_commit(nc_store_writer *writer, nc_error *NC_NULLABLE err);

/// Frees a writer; what was not committed is gone. NULL is allowed. Before its store.
///
/// Confined: one thread at a time.
NC_API void nc_store_writer_free(nc_store_writer *NC_NULLABLE writer);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
