#include "json/siphash.h"

static uint64_t rotate(uint64_t word, unsigned bits) {
    return word << bits | word >> (64 - bits);
}

/// Applies SipRound `rounds` times.
static void mix(uint64_t v[4], unsigned rounds) {
    while (rounds-- > 0) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void add_word(nc_siphash *hash, uint64_t word) {
    hash->v[3] ^= word;
    mix(hash->v, 2);
    hash->v[0] ^= word;
}

void nc_siphash_init(nc_siphash *hash, nc_hash128 key) {
    hash->v[0] = key.words[0] ^ UINT64_C(0x736f6d6570736575);
    hash->v[1] = key.words[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xEE; // 0xEE selects 128 bits of output
    hash->v[2] = key.words[0] ^ UINT64_C(0x6c7967656e657261);
    hash->v[3] = key.words[1] ^ UINT64_C(0x7465646279746573);
    hash->tail = 0;
    hash->length = 0;
}

void nc_siphash_feed_byte(nc_siphash *hash, uint8_t byte) {
    hash->tail |= (uint64_t)byte << (hash->length % 8 * 8);
    if (++hash->length % 8 == 0) {
        add_word(hash, hash->tail);
        hash->tail = 0;
    }
}

void nc_siphash_feed(nc_siphash *hash, nc_slice bytes) {
    for (size_t i = 0; i < bytes.length; i++) {
        nc_siphash_feed_byte(hash, bytes.data[i]);
    }
}

nc_hash128 nc_siphash_end(nc_siphash *hash) {
    nc_hash128 result;
    add_word(hash, hash->tail | hash->length << 56);
    hash->v[2] ^= 0xEE;
    mix(hash->v, 4);
    result.words[0] = hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
    hash->v[1] ^= 0xDD;
    mix(hash->v, 4);
    result.words[1] = hash->v[0] ^ hash->v[1] ^ hash->v[2] ^ hash->v[3];
    return result;
}
