/// Writes the pieces of a canonical form to a buffer that is large enough. A short piece takes only a few instructions.
#ifndef NETCORE_PRIVATE_KEY_WRITER_H
#define NETCORE_PRIVATE_KEY_WRITER_H

#include <netcore/bytes.h>
#include <string.h>

/// Masks for eight bytes at a time: the low bit and the top bit of each byte.
#define KEY_ONES 0x0101010101010101u
#define KEY_TOPS 0x8080808080808080u

/// The position of the next byte.
typedef struct key_writer {
    uint8_t *at;
} key_writer;

/// nc_slice_make(), always inlined.
static inline nc_slice key_slice(const void *data, size_t length) {
    return (nc_slice){data, length};
}

static inline uint64_t key_load(const uint8_t *from) {
    uint64_t word;
    memcpy(&word, from, sizeof word);
    return word;
}

static inline void key_store(uint8_t *to, uint64_t word) {
    memcpy(to, &word, sizeof word);
}

/// Reads 4 to 7 bytes as two overlapping words.
static inline uint64_t key_load_short(const uint8_t *from, size_t length) {
    uint32_t head;
    uint32_t tail;
    memcpy(&head, from, sizeof head);
    memcpy(&tail, from + length - 4, sizeof tail);
    return (uint64_t)tail << 32 | head;
}

/// Writes the result of key_load_short().
static inline void key_store_short(uint8_t *to, uint64_t word, size_t length) {
    uint32_t head = (uint32_t)word;
    uint32_t tail = (uint32_t)(word >> 32);
    memcpy(to, &head, sizeof head);
    memcpy(to + length - 4, &tail, sizeof tail);
}

/// Calls `test` with each eight bytes of a text, and returns the results combined by OR. The last eight bytes may
/// overlap the previous ones. In a text below four bytes, each byte is tested alone, repeated eight times.
static inline __attribute__((always_inline)) uint64_t key_scan(nc_slice text, uint64_t (*test)(uint64_t word)) {
    uint64_t found = 0;
    if (text.length >= 8) {
        for (size_t i = 0; i + 8 < text.length; i += 8) {
            found |= test(key_load(text.data + i));
        }
        return found | test(key_load(text.data + text.length - 8));
    }
    if (text.length >= 4) {
        return test(key_load_short(text.data, text.length));
    }
    for (size_t i = 0; i < text.length; i++) {
        found |= test(KEY_ONES * text.data[i]);
    }
    return found;
}

static inline void key_put_byte(key_writer *out, uint8_t byte) {
    *out->at++ = byte;
}

/// Appends bytes. Most pieces are so short that a call of memcpy(3) would take longer.
static inline void key_put_bytes(key_writer *out, nc_slice bytes) {
    size_t length = bytes.length;
    uint8_t *to = out->at;
    const uint8_t *from = bytes.data;
    out->at += length;
    if (length > 16) {
        memcpy(to, from, length);
    } else if (length >= 8) {
        uint64_t head = key_load(from);
        uint64_t tail = key_load(from + length - 8);
        key_store(to, head);
        key_store(to + length - 8, tail);
    } else if (length >= 4) {
        key_store_short(to, key_load_short(from, length), length);
    } else {
        for (size_t i = 0; i < length; i++) {
            to[i] = from[i];
        }
    }
}

static inline void key_put_length(key_writer *out, size_t length) {
    while (length >= 0x80) {
        key_put_byte(out, (uint8_t)(length | 0x80));
        length >>= 7;
    }
    key_put_byte(out, (uint8_t)length);
}

static inline void key_put_text(key_writer *out, nc_slice text) {
    key_put_length(out, text.length);
    key_put_bytes(out, text);
}

/// Sets the bit 0x20 of each byte from 'A' to 'Z'.
static inline uint64_t key_lower(uint64_t word) {
    uint64_t low = word & ~KEY_TOPS;
    uint64_t from_a = low + KEY_ONES * (0x80 - 'A');
    uint64_t above_z = low + KEY_ONES * (0x7F - 'Z');
    return word | ((from_a & ~above_z & ~word & KEY_TOPS) >> 2);
}

static inline void key_put_lowered(key_writer *out, nc_slice text) {
    uint8_t *to = out->at;
    size_t length = text.length;
    out->at += length;
    if (length >= 8) {
        for (size_t i = 0; i + 8 < length; i += 8) {
            key_store(to + i, key_lower(key_load(text.data + i)));
        }
        key_store(to + length - 8, key_lower(key_load(text.data + length - 8)));
    } else if (length >= 4) {
        key_store_short(to, key_lower(key_load_short(text.data, length)), length);
    } else {
        for (size_t i = 0; i < length; i++) {
            to[i] = (uint8_t)key_lower(text.data[i]);
        }
    }
}

/// Returns a word other than 0 exactly if one of the eight bytes equals `byte`. Which bits are set is not reliable.
static inline uint64_t key_equals(uint64_t word, uint8_t byte) {
    uint64_t other = word ^ (KEY_ONES * byte);
    return (other - KEY_ONES) & ~other & KEY_TOPS;
}

/* --- key_url.c: the canonical form of a URL --- */

/// The longest canonical host, including brackets.
enum { KEY_HOST_BYTES = 256 };

/// The pieces of a URL in the order in which they are written. The fragment is omitted.
typedef struct key_url {
    nc_slice scheme;
    nc_slice userinfo;
    nc_slice host;
    nc_slice port; // without its colon
    nc_slice rest; // path and query
    bool has_port;
    bool needs_slash;
    uint8_t written[KEY_HOST_BYTES]; // the canonical host, if it is not the text in the URL
} key_url;

/// Splits a URL. The pieces point into it; the host may point into `out`, which must then not be moved.
///
/// Returns NC_OK; NC_ERR_BAD_URL if the URL has no scheme or host, or contains a control character or space;
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_key_url_cut(key_url *out, nc_slice url, nc_error *err);

/// Writes the length of the canonical URL, and the URL. At most that is the size of the URL, of a length and of a
/// slash, plus the size of the host if it is in `written`.
void nc_key_url_put(key_writer *out, const key_url *url);

#endif
