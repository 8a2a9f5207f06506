#include "store/format.h"

#include "base/error.h"
#include "store/checksum.h"

#include <string.h>

enum {
    AT_VERSION = 8,
    AT_FLAGS = 12,
    AT_KEY = 16,
    AT_HOST = 20,
    AT_TAGS = 24,
    AT_METADATA = 28,
    AT_BODY = 32,
    AT_CREATED = 40,
    AT_LIFETIME = 48,
    AT_SALT = 56,
    AT_KEY_ID = 72,
    AT_BODY_CHECK = 80,
    AT_ZEROS = 96,
    FLAG_SEALED = 1,
};

/// Larger than any disk, and small enough that sums of lengths do not overflow.
#define MAX_BODY_BYTES (UINT64_C(1) << 60)

static const uint8_t magic[8] = {0x89, 'N', 'K', 'S', '\r', '\n', 0x1A, '\n'};

static void put(uint8_t *out, uint64_t number, size_t bytes) {
    for (size_t i = 0; i < bytes; i++) {
        out[i] = (uint8_t)(number >> (8 * i));
    }
}

static uint64_t number(const uint8_t *at, size_t bytes) {
    uint64_t out = 0;
    for (size_t i = 0; i < bytes; i++) {
        out |= (uint64_t)at[i] << (8 * i);
    }
    return out;
}

nc_status nc_entry_head_init(nc_entry_head *out, const nc_store_draft *draft, int64_t now_ms, nc_error *err) {
    if (draft->key.length == 0) {
        return nc_error_set(err, NC_ERR_USAGE, 0, -1, "the key is empty");
    }
    if (draft->key.length > NC_STORE_MAX_KEY_BYTES || draft->host.length > NC_STORE_MAX_METADATA_BYTES ||
        draft->tags.length > NC_STORE_MAX_METADATA_BYTES || draft->metadata.length > NC_STORE_MAX_METADATA_BYTES) {
        return nc_error_set(err, NC_ERR_TOO_LARGE, 0, -1,
                            "the key, host, tags or metadata of a cache entry exceed their size limit");
    }
    *out = (nc_entry_head){
        .key_bytes = (uint32_t)draft->key.length,
        .host_bytes = (uint32_t)draft->host.length,
        .tags_bytes = (uint32_t)draft->tags.length,
        .metadata_bytes = (uint32_t)draft->metadata.length,
        .created_at_ms = draft->created_at_ms != 0 ? draft->created_at_ms : now_ms,
        .lifetime_ms = draft->lifetime_ms == 0 ? NC_STORE_FOREVER : draft->lifetime_ms,
    };
    return NC_OK;
}

void nc_entry_head_write(uint8_t out[NC_ENTRY_CHECKED_BYTES], const nc_entry_head *head) {
    memset(out, 0, NC_ENTRY_CHECKED_BYTES);
    memcpy(out, magic, sizeof magic);
    put(out + AT_VERSION, NC_ENTRY_VERSION, 4);
    put(out + AT_FLAGS, head->is_sealed ? FLAG_SEALED : 0, 4);
    put(out + AT_KEY, head->key_bytes, 4);
    put(out + AT_HOST, head->host_bytes, 4);
    put(out + AT_TAGS, head->tags_bytes, 4);
    put(out + AT_METADATA, head->metadata_bytes, 4);
    put(out + AT_BODY, head->body_bytes, 8);
    put(out + AT_CREATED, (uint64_t)head->created_at_ms, 8);
    put(out + AT_LIFETIME, head->lifetime_ms, 8);
    memcpy(out + AT_SALT, head->salt, sizeof head->salt);
    memcpy(out + AT_KEY_ID, head->key_id, sizeof head->key_id);
    memcpy(out + AT_BODY_CHECK, head->body_check, sizeof head->body_check);
}

static void check_of(uint8_t out[NC_CHECKSUM_BYTES], const uint8_t *header, nc_slice texts) {
    nc_checksum sum = nc_checksum_init();
    nc_checksum_update(&sum, nc_slice_make(header, NC_ENTRY_CHECKED_BYTES));
    nc_checksum_update(&sum, texts);
    nc_checksum_finish(out, &sum);
}

void nc_entry_head_write_checksum(uint8_t header[NC_ENTRY_HEADER_BYTES], nc_slice texts) {
    check_of(header + NC_ENTRY_CHECKED_BYTES, header, texts);
}

bool nc_entry_head_is_whole(const uint8_t header[NC_ENTRY_HEADER_BYTES], nc_slice texts) {
    uint8_t check[NC_CHECKSUM_BYTES];
    check_of(check, header, texts);
    return memcmp(check, header + NC_ENTRY_CHECKED_BYTES, sizeof check) == 0;
}

static bool has_plausible_lengths(const nc_entry_head *head) {
    return head->key_bytes != 0 && head->key_bytes <= NC_STORE_MAX_KEY_BYTES &&
           head->host_bytes <= NC_STORE_MAX_METADATA_BYTES && head->tags_bytes <= NC_STORE_MAX_METADATA_BYTES &&
           head->metadata_bytes <= NC_STORE_MAX_METADATA_BYTES && head->body_bytes <= MAX_BODY_BYTES;
}

bool nc_entry_head_read(nc_entry_head *out, const uint8_t header[NC_ENTRY_HEADER_BYTES]) {
    static const uint8_t zeros[NC_ENTRY_CHECKED_BYTES - AT_ZEROS];
    uint64_t flags = number(header + AT_FLAGS, 4);
    if (memcmp(header, magic, sizeof magic) != 0 || number(header + AT_VERSION, 4) != NC_ENTRY_VERSION ||
        flags > FLAG_SEALED || memcmp(header + AT_ZEROS, zeros, sizeof zeros) != 0) {
        return false;
    }
    nc_entry_head head = {
        .is_sealed = flags == FLAG_SEALED,
        .key_bytes = (uint32_t)number(header + AT_KEY, 4),
        .host_bytes = (uint32_t)number(header + AT_HOST, 4),
        .tags_bytes = (uint32_t)number(header + AT_TAGS, 4),
        .metadata_bytes = (uint32_t)number(header + AT_METADATA, 4),
        .body_bytes = number(header + AT_BODY, 8),
        .created_at_ms = (int64_t)number(header + AT_CREATED, 8),
        .lifetime_ms = number(header + AT_LIFETIME, 8),
    };
    memcpy(head.salt, header + AT_SALT, sizeof head.salt);
    memcpy(head.key_id, header + AT_KEY_ID, sizeof head.key_id);
    memcpy(head.body_check, header + AT_BODY_CHECK, sizeof head.body_check);
    if (!has_plausible_lengths(&head)) {
        return false;
    }
    *out = head;
    return true;
}

size_t nc_entry_texts_bytes(const nc_entry_head *head) {
    return (size_t)head->key_bytes + head->host_bytes + head->tags_bytes + head->metadata_bytes;
}

size_t nc_entry_front_bytes(const nc_entry_head *head) {
    return NC_ENTRY_HEADER_BYTES + nc_entry_texts_bytes(head) + (head->is_sealed ? NC_ENTRY_TAG_BYTES : 0);
}

uint64_t nc_entry_stored_body_bytes(const nc_entry_head *head) {
    uint64_t pieces = (head->body_bytes + NC_ENTRY_PIECE_BYTES - 1) / NC_ENTRY_PIECE_BYTES;
    return head->body_bytes + (head->is_sealed ? pieces * NC_ENTRY_TAG_BYTES : 0);
}

uint64_t nc_entry_file_bytes(const nc_entry_head *head) {
    return nc_entry_front_bytes(head) + nc_entry_stored_body_bytes(head);
}

bool nc_entry_is_expired(const nc_entry_head *head, int64_t now_ms) {
    if (head->lifetime_ms == NC_STORE_FOREVER) {
        return false;
    }
    // Unsigned, because the difference of two times can exceed INT64_MAX.
    return now_ms < head->created_at_ms || (uint64_t)now_ms - (uint64_t)head->created_at_ms >= head->lifetime_ms;
}

void nc_entry_describe(nc_store_entry *out, const nc_entry_head *head, const uint8_t *texts) {
    const uint8_t *host = texts + head->key_bytes;
    const uint8_t *tags = host + head->host_bytes;
    const uint8_t *metadata = tags + head->tags_bytes;
    *out = (nc_store_entry){
        .found = NC_STORE_HIT,
        .key = nc_slice_make(texts, head->key_bytes),
        .metadata = nc_slice_make(metadata, head->metadata_bytes),
        .host = nc_slice_make(host, head->host_bytes),
        .tags = nc_slice_make(tags, head->tags_bytes),
        .body_bytes = head->body_bytes,
        .file_bytes = nc_entry_file_bytes(head),
        .created_at_ms = head->created_at_ms,
        .lifetime_ms = head->lifetime_ms,
    };
}
