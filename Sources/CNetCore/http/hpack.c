#include "http/hpack.h"

#include "base/alloc.h"
#include "http/hpack_tables.h"

#include <string.h>

/// RFC 7541, 4.1: the size of an entry is its name and value plus 32 bytes.
enum { TABLE_BYTES = 4096, ENTRY_BYTES = 32, MAX_ENTRIES = TABLE_BYTES / ENTRY_BYTES, TEXT_BYTES = 2 * TABLE_BYTES };

/// The largest string length or index that a block may contain.
enum { MAX_NUMBER = 1 << 24 };

/// The decoder keeps up to this much memory for literals between blocks.
enum { MAX_KEPT_BYTES = 16 << 10 };

typedef struct entry {
    uint16_t at; // offset of the name in `text`; the value follows the name
    uint16_t name_length;
    uint16_t value_length;
} entry;

/// A code of the Huffman table, and the symbol that it stands for.
typedef struct code {
    uint16_t symbol;
    uint16_t length; // in bits
} code;

struct nc_hpack {
    code short_codes[256];      // by the next 8 bits; length 0 if the code is longer
    entry entries[MAX_ENTRIES]; // a ring
    size_t oldest;
    size_t count;
    size_t size; // of the table, as RFC 7541, 4.1, defines it
    size_t max_size;
    size_t text_end;
    uint8_t text[TEXT_BYTES]; // names and values of the entries, from the oldest to the newest, without gaps
    nc_buf literals;          // strings of the current field
};

/// The undecoded part of a block.
typedef struct block_reader {
    const uint8_t *at;
    const uint8_t *end;
    size_t room; // the total length that names and values of further fields may have
} block_reader;

/* --- Huffman codes --- */

/// Finds the first code in `window`, which begins with the highest bit. Every window has one, because the code is
/// complete.
static code first_code(uint32_t window) {
    uint32_t first = 0; // the first code of this length
    size_t before = 0;  // number of shorter codes
    for (unsigned length = 1;; length++) {
        uint32_t offset = (window >> (32 - length)) - first;
        uint32_t count = nc_hpack_code_counts[length];
        if (offset < count) {
            return (code){nc_hpack_symbols[before + offset], (uint16_t)length};
        }
        first = (first + count) << 1;
        before += count;
    }
}

/// Fills `short_codes`.
static void fill_short_codes(nc_hpack *hpack) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        code found = first_code(byte << 24);
        hpack->short_codes[byte] = found.length <= 8 ? found : (code){.length = 0};
    }
}

nc_hpack *nc_hpack_new(void) {
    nc_hpack *hpack = nc_alloc_zeroed(1, sizeof *hpack);
    if (hpack != NULL) {
        fill_short_codes(hpack);
        hpack->max_size = TABLE_BYTES;
        hpack->literals = nc_buf_init(SIZE_MAX);
    }
    return hpack;
}

void nc_hpack_free(nc_hpack *hpack) {
    if (hpack != NULL) {
        nc_buf_deinit(&hpack->literals);
        nc_free(hpack);
    }
}

/* --- the dynamic table --- */

static size_t entry_size(const entry *one) {
    return (size_t)one->name_length + one->value_length + ENTRY_BYTES;
}

static void evict_to(nc_hpack *hpack, size_t size) {
    while (hpack->count > 0 && hpack->size > size) {
        hpack->size -= entry_size(&hpack->entries[hpack->oldest]);
        hpack->oldest = (hpack->oldest + 1) % MAX_ENTRIES;
        hpack->count--;
    }
}

/// Moves the text of the entries to the front.
static void compact(nc_hpack *hpack) {
    size_t begin = hpack->count > 0 ? hpack->entries[hpack->oldest].at : hpack->text_end;
    memmove(hpack->text, hpack->text + begin, hpack->text_end - begin);
    hpack->text_end -= begin;
    for (size_t i = 0; i < hpack->count; i++) {
        entry *one = &hpack->entries[(hpack->oldest + i) % MAX_ENTRIES];
        one->at = (uint16_t)(one->at - begin);
    }
}

/// Inserts an entry (RFC 7541, 4.4). The memory of `name` and `value` must not belong to the table.
static void insert(nc_hpack *hpack, nc_slice name, nc_slice value) {
    size_t length = name.length + value.length;
    if (length + ENTRY_BYTES > hpack->max_size) {
        evict_to(hpack, 0); // RFC 7541, 4.4: an entry larger than the table is no error, but empties the table
        return;
    }
    evict_to(hpack, hpack->max_size - length - ENTRY_BYTES);
    if (hpack->text_end + length > TEXT_BYTES) {
        compact(hpack);
    }
    entry *one = &hpack->entries[(hpack->oldest + hpack->count) % MAX_ENTRIES];
    *one = (entry){(uint16_t)hpack->text_end, (uint16_t)name.length, (uint16_t)value.length};
    memcpy(hpack->text + hpack->text_end, name.data, name.length);
    memcpy(hpack->text + hpack->text_end + name.length, value.data, value.length);
    hpack->text_end += length;
    hpack->size += entry_size(one);
    hpack->count++;
}

/// Finds the field with an index. The indexes of the dynamic table follow those of the static table (RFC 7541, 2.3.3).
static bool find(const nc_hpack *hpack, size_t index, nc_slice *name, nc_slice *value) {
    if (index == 0 || index > NC_HPACK_STATIC_COUNT + hpack->count) {
        return false;
    }
    if (index <= NC_HPACK_STATIC_COUNT) {
        *name = nc_slice_of(nc_hpack_static_table[index - 1].name);
        *value = nc_slice_of(nc_hpack_static_table[index - 1].value);
        return true;
    }
    size_t newest = hpack->oldest + hpack->count - 1;
    const entry *one = &hpack->entries[(newest - (index - NC_HPACK_STATIC_COUNT - 1)) % MAX_ENTRIES];
    *name = nc_slice_make(hpack->text + one->at, one->name_length);
    *value = nc_slice_make(hpack->text + one->at + one->name_length, one->value_length);
    return true;
}

/* --- integers and strings --- */

/// Reads an integer (RFC 7541, 5.1) that begins in the low `bits` bits of the first byte.
static bool read_number(block_reader *in, unsigned bits, size_t *out) {
    size_t mask = ((size_t)1 << bits) - 1;
    if (in->at == in->end) {
        return false;
    }
    size_t value = *in->at++ & mask;
    bool goes_on = value == mask;
    for (unsigned shift = 0; goes_on; shift += 7) {
        if (in->at == in->end || shift > 28) {
            return false;
        }
        value += (size_t)(*in->at & 0x7f) << shift;
        goes_on = (*in->at++ & 0x80) != 0;
    }
    *out = value;
    return value <= MAX_NUMBER;
}

/// Appends the next bytes to `bits`, which holds fewer than 32 bits: four bytes, or all if fewer are left. Returns the
/// position of the first byte that was not appended.
static inline const uint8_t *take_bits(uint64_t *bits, unsigned *count, const uint8_t *at, const uint8_t *end) {
    if (end - at >= 4) {
        uint32_t word = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
        *bits |= (uint64_t)word << (32 - *count);
        *count += 32;
        return at + 4;
    }
    for (; at < end; at++) {
        *bits |= (uint64_t)*at << (56 - *count);
        *count += 8;
    }
    return at;
}

/// Decodes a Huffman string (RFC 7541, 5.2) into `literals`, in which the caller has reserved memory.
static bool read_huffman(nc_hpack *hpack, const uint8_t *at, const uint8_t *end) {
    nc_buf *out = &hpack->literals;
    uint8_t *written = out->data + out->length;
    uint64_t bits = 0;  // undecoded bits; the next one is the highest
    unsigned count = 0; // number of undecoded bits
    for (;;) {
        if (count < NC_HPACK_MAX_CODE_BITS) {
            at = take_bits(&bits, &count, at, end);
        }
        code next = hpack->short_codes[bits >> 56];
        next = next.length != 0 ? next : first_code((uint32_t)(bits >> 32));
        if (next.length > count) {
            break;
        }
        if (next.symbol == NC_HPACK_END_OF_STRING) {
            return false;
        }
        *written++ = (uint8_t)next.symbol;
        bits <<= next.length;
        count -= next.length;
    }
    out->length = (size_t)(written - out->data);
    // RFC 7541, 5.2: the padding has less than 8 bits, and all of them are ones.
    return count < 8 && bits >> 56 == (0xff00u >> count & 0xff);
}

/// Decodes a string into `literals`, in which the caller has reserved memory.
static bool read_string(nc_hpack *hpack, block_reader *in, nc_slice *out) {
    size_t length = 0;
    bool is_huffman = in->at < in->end && (*in->at & 0x80) != 0;
    if (!read_number(in, 7, &length) || length > (size_t)(in->end - in->at)) {
        return false;
    }
    nc_buf *literals = &hpack->literals;
    size_t begin = literals->length;
    if (!is_huffman) {
        memcpy(literals->data + begin, in->at, length);
        literals->length += length;
    } else if (!read_huffman(hpack, in->at, in->at + length)) {
        return false;
    }
    in->at += length;
    *out = nc_slice_make(literals->data + begin, literals->length - begin);
    return true;
}

/* --- fields --- */

static nc_status deliver(block_reader *in, nc_slice name, nc_slice value, nc_hpack_take take, void *ctx) {
    if (name.length + value.length > in->room) {
        return NC_ERR_TOO_LARGE;
    }
    in->room -= name.length + value.length;
    take(ctx, name, value);
    return NC_OK;
}

/// Decodes a literal field (RFC 7541, 6.2). The shortest Huffman code has 5 bits, so a decoded string has at most 8/5
/// of its encoded length.
static nc_status read_literal(nc_hpack *hpack, block_reader *in, nc_hpack_take take, void *ctx) {
    bool is_inserted = (*in->at & 0x40) != 0;
    size_t index = 0;
    nc_slice name = {0};
    nc_slice value = {0};
    nc_buf_reset(&hpack->literals);
    if (nc_buf_reserve(&hpack->literals, (size_t)(in->end - in->at) * 8 / 5 + TABLE_BYTES) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    if (!read_number(in, is_inserted ? 6 : 4, &index) ||
        !(index == 0 ? read_string(hpack, in, &name) : find(hpack, index, &name, &value)) ||
        !read_string(hpack, in, &value)) {
        return NC_ERR_BAD_RESPONSE;
    }
    nc_status status = deliver(in, name, value, take, ctx);
    if (status == NC_OK && is_inserted) {
        if (index > NC_HPACK_STATIC_COUNT) { // The insertion may evict the entry that stores the name.
            uint8_t *copy = hpack->literals.data + hpack->literals.length;
            memcpy(copy, name.data, name.length);
            name.data = copy;
        }
        insert(hpack, name, value);
    }
    return status;
}

static nc_status read_field(nc_hpack *hpack, block_reader *in, nc_hpack_take take, void *ctx) {
    size_t index = 0;
    nc_slice name = {0};
    nc_slice value = {0};
    if ((*in->at & 0x80) == 0) {
        return read_literal(hpack, in, take, ctx);
    }
    if (!read_number(in, 7, &index) || !find(hpack, index, &name, &value)) {
        return NC_ERR_BAD_RESPONSE;
    }
    return deliver(in, name, value, take, ctx);
}

static bool is_resize(const block_reader *in) {
    return in->at < in->end && (*in->at & 0xe0) == 0x20;
}

/// Applies a size update (RFC 7541, 6.3).
static bool read_resize(nc_hpack *hpack, block_reader *in) {
    size_t size = 0;
    if (!read_number(in, 5, &size) || size > TABLE_BYTES) {
        return false;
    }
    hpack->max_size = size;
    evict_to(hpack, size);
    return true;
}

nc_status nc_hpack_decode(nc_hpack *hpack, nc_slice block, nc_hpack_take take, void *ctx) {
    block_reader in = {block.data, block.data + block.length, NC_HPACK_MAX_BLOCK_BYTES};
    nc_status status = NC_OK;
    while (is_resize(&in)) { // only before the first field (RFC 7541, 4.2)
        if (!read_resize(hpack, &in)) {
            return NC_ERR_BAD_RESPONSE;
        }
    }
    while (status == NC_OK && in.at < in.end) {
        status = is_resize(&in) ? NC_ERR_BAD_RESPONSE : read_field(hpack, &in, take, ctx);
    }
    if (hpack->literals.capacity > MAX_KEPT_BYTES) {
        nc_buf_deinit(&hpack->literals);
        hpack->literals = nc_buf_init(SIZE_MAX);
    }
    return status;
}
