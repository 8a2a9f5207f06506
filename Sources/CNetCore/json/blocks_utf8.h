/// Tables that tell ill-formed UTF-8 by three nibbles: of a byte and of the one before it (Keiser and Lemire, 2020).
///
/// Each bit of an entry stands for one thing that may be wrong; what all three nibbles say is wrong.
#ifndef NETCORE_PRIVATE_JSON_BLOCKS_UTF8_H
#define NETCORE_PRIVATE_JSON_BLOCKS_UTF8_H

enum {
    UTF8_SHORT = 1,       // a lead without its continuation
    UTF8_LONG = 2,        // a continuation behind ASCII
    UTF8_OVERLONG_3 = 4,  // E0 80 to E0 9F
    UTF8_LARGE = 8,       // F4 90 and up
    UTF8_SURROGATE = 16,  // ED A0 and up
    UTF8_OVERLONG_2 = 32, // C0 and C1
    UTF8_VAST = 64,       // F5 80 and up; F0 80 to F0 8F are overlong
    UTF8_TWO = 128,       // two continuations, which the bytes before them allow or not
    UTF8_ANY = UTF8_SHORT | UTF8_LONG | UTF8_TWO,
};

/// By the high nibble of the byte before.
#define UTF8_FIRST_HIGH                                                                                                \
    UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, UTF8_LONG, (char)UTF8_TWO,            \
        (char)UTF8_TWO, (char)UTF8_TWO, (char)UTF8_TWO, UTF8_SHORT | UTF8_OVERLONG_2, UTF8_SHORT,                      \
        UTF8_SHORT | UTF8_OVERLONG_3 | UTF8_SURROGATE, UTF8_SHORT | UTF8_LARGE | UTF8_VAST

#define UTF8_LOW(more) (char)(UTF8_ANY | (more))
/// By its low nibble.
#define UTF8_FIRST_LOW                                                                                                 \
    UTF8_LOW(UTF8_OVERLONG_3 | UTF8_OVERLONG_2 | UTF8_VAST), UTF8_LOW(UTF8_OVERLONG_2), UTF8_LOW(0), UTF8_LOW(0),      \
        UTF8_LOW(UTF8_LARGE), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),                      \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),          \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST), UTF8_LOW(UTF8_LARGE | UTF8_VAST),          \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST | UTF8_SURROGATE), UTF8_LOW(UTF8_LARGE | UTF8_VAST),                           \
        UTF8_LOW(UTF8_LARGE | UTF8_VAST)

#define UTF8_NEXT(more) (char)(UTF8_LONG | UTF8_OVERLONG_2 | UTF8_TWO | (more))
/// By the high nibble of the byte itself.
#define UTF8_SECOND_HIGH                                                                                               \
    UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT, UTF8_SHORT,                    \
        UTF8_NEXT(UTF8_OVERLONG_3 | UTF8_VAST), UTF8_NEXT(UTF8_OVERLONG_3 | UTF8_LARGE),                               \
        UTF8_NEXT(UTF8_SURROGATE | UTF8_LARGE), UTF8_NEXT(UTF8_SURROGATE | UTF8_LARGE), UTF8_SHORT, UTF8_SHORT,        \
        UTF8_SHORT, UTF8_SHORT

/// White space and operators by their low nibble: a byte that equals its entry is one. Entries that no byte can equal
/// have another low nibble themselves. Operators are looked up with bit 5 set, which takes [ to { and ] to }.
#define BLOCK_SPACES ' ', -1, -1, -1, -1, -1, -1, -1, -1, '\t', '\n', -1, -1, '\r', -1, 0
#define BLOCK_OPERATORS -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, ':', '{', ',', '}', -1, 0

#endif
