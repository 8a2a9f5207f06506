/// Tables that detect ill-formed UTF-8 from three nibbles of a byte and the byte before it (Keiser and Lemire, 2020).
///
/// Each bit of an entry stands for one error. An error that is set in all three entries is present.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_UTF8_H
#define NETCORE_PRIVATE_JSON_BLOCKS_UTF8_H

enum {
    UTF8_SHORT = 1,       // a lead byte without its continuation
    UTF8_LONG = 2,        // a continuation after ASCII
    UTF8_OVERLONG_3 = 4,  // E0 80 to E0 9F
    UTF8_LARGE = 8,       // F4 90 and up
    UTF8_SURROGATE = 16,  // ED A0 and up
    UTF8_OVERLONG_2 = 32, // C0 and C1
    UTF8_VAST = 64,       // F5 80 and up; F0 80 to F0 8F are overlong
    UTF8_TWO = 128,       // two continuations; the bytes before decide whether they are valid
    UTF8_ANY = UTF8_SHORT | UTF8_LONG | UTF8_TWO,
};

/// Indexed by the high nibble of the byte before.
#define UTF8_FIRST_HIGH                                                                                                \
    UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, (char)UTF8_TWO,            \
        (char)UTF8_TWO, (char)UTF8_TWO, (char)UTF8_TWO, UTF8_SHORT | UTF8_OVERLONG_2, UTF8_SHORT,                      \
        UTF8_SHORT | UTF8_OVERLONG_3 | UTF8_SURROGATE, UTF8_SHORT | UTF8_LARGE | UTF8_VAST

#define UTF8_LOW(more) (char)(UTF8_ANY | (more))
/// Indexed by the low nibble of the byte before.
#define UTF8_FIRST_LOW                                                                                                 \
    UTF8_LOW(UTF8_OVERLONG_3 | UTF8_OVERLONG_2 | UTF8_VAST), UTF8_LOW(UTF8_OVERLONG_2), UTF8_LOW(0), UTF8_LOW(0),      \
        UTF8_LOW(UTF8_LARGE), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),                      \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),          \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),          \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST | UTF8_SURROGATE), UTF8_LOW(UTF8_LARGE | UTF8_VAST),                           \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST)

#define UTF8_NEXT(more) (char)(UTF8_LONG | UTF8_OVERLONG_2 | UTF8_TWO | (more))
/// Indexed by the high nibble of the byte itself.
#define UTF8_SECOND_HIGH                                                                                               \
    UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT,                    \
        UTF8_NEXT(UTF8_OVERLONG_3 | UTF8_VAST), UTF8_NEXT(UTF8_OVERLONG_3 | UTF8_LARGE),                               \
        UTF8_NEXT(UTF8_SURROGATE | UTF8_LARGE), UTF8_NEXT(UTF8_SURROGATE | UTF8_LARGE), UTF8_SHORT, UTF8_SHORT,        \
        UTF8_SHORT, UTF8_SHORT

/// White space and operators, indexed by low nibble: a byte that equals its entry is one. An unused entry has a
/// different low nibble, so no byte can equal it. Operators are looked up with bit 5 set, which maps [ to { and ] to }.
#define BLOCK_SPACES ' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', '\n', -1, -1, '\r', -1, 0
#define BLOCK_OPERATORS -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, ':', '{', ',', '}', -1, 0

#endif
