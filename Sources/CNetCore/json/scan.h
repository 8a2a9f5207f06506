/// The state of a scan: everything that is known between two bytes of a text.
///
/// One machine serves every consumer: the check alone, shapes, and readers of tokens. json/scan_core.h is its code, a
/// template that each consumer compiles with hooks of its own; json/blocks.h finds what is worth looking at in 64 bytes
/// at once, and the machine that goes byte by byte defines what is right, finds every fault and takes the rests.
/// Readers of whole texts use nc_json_read() of <netcore/json.h>.
#ifndef NETCORE_PRIVATE_JSON_SCAN_H
#define NETCORE_PRIVATE_JSON_SCAN_H

#include <netcore/json.h>

/// What the grammar wants next, or next after the token under way.
typedef enum nc_scan_state {
    NC_SCAN_VALUE,
    NC_SCAN_FIRST_VALUE, // or ']'
    NC_SCAN_FIRST_NAME,  // or '}'
    NC_SCAN_NAME,
    NC_SCAN_COLON,
    NC_SCAN_NEXT, // ',' or the end of the container
    NC_SCAN_DONE, // white space only
} nc_scan_state;

/// What kind of token is under way.
typedef enum nc_scan_inside {
    NC_INSIDE_NOTHING,
    NC_INSIDE_STRING,
    NC_INSIDE_ESCAPE,   // behind '\'
    NC_INSIDE_HEX,      // behind '\u', `left` digits to come
    NC_INSIDE_PAIR,     // behind a high surrogate: '\' to come
    NC_INSIDE_PAIR_U,   // then 'u'
    NC_INSIDE_SEQUENCE, // of UTF-8, `left` bytes to come, the next within `low` and `high`
    NC_INSIDE_LITERAL,  // of `literal`, `matched` letters have come
    NC_INSIDE_MINUS,    // the parts of a number: from here on
    NC_INSIDE_ZERO,     // a leading zero
    NC_INSIDE_INTEGER,  // digits
    NC_INSIDE_POINT,    // '.', a digit to come
    NC_INSIDE_FRACTION, // digits
    NC_INSIDE_E,        // a sign or a digit to come
    NC_INSIDE_E_SIGN,   // a digit to come
    NC_INSIDE_EXPONENT, // digits
} nc_scan_inside;

typedef struct nc_scan {
    uint64_t offset; // of the piece's first byte
    uint8_t state;
    uint8_t inside;
    bool is_object; // the innermost container
    bool is_name;   // the string under way
    bool is_read;   // its text, or the number's, is handed over
    bool has_begun; // part of the token under way was handed over
    bool is_over;   // a fault was found, or the consumer stopped
    bool is_stopped;
    bool allows_lone_surrogates;
    bool wants_low;      // the digits under way are those of a low surrogate
    bool is_surrogate_d; // their first was 'd'
    bool is_high;        // they make a high surrogate
    uint8_t left;
    uint8_t low;
    uint8_t high;
    uint8_t literal; // an nc_json_kind
    uint8_t matched;
    int16_t found; // the byte at fault, -1 for none
    nc_json_fault fault;
    uint32_t depth;
    uint32_t max_depth;
    uint64_t number_bytes; // of the number under way
    uint64_t max_number_bytes;
    uint64_t max_bytes;
    uint64_t token_offset; // where the token under way began
    size_t token_at;       // where in the piece its part that was not handed over begins
    uint64_t fault_offset;
    const char *wanted;
    uint8_t *kinds; // for each open container, whether the one around it is an object
} nc_scan;

/// Where a text that is handed over belongs in its token.
enum {
    NC_TEXT_FIRST = 1,
    NC_TEXT_LAST = 2,
    NC_TEXT_WHOLE = 3,
    NC_TEXT_PLAIN = 4, // surely no escapes; a number that is nothing but digits and a sign
    NC_TEXT_ROOM = 8,  // eight bytes may be read from its beginning on
};

/// What a hook says to a value or a name.
typedef enum nc_scan_answer {
    NC_SCAN_STOP,
    NC_SCAN_PASS, // go on, its text is of no interest
    NC_SCAN_READ, // hand its text over
} nc_scan_answer;

/// Goes to the beginning of a text; `kinds` has room for the options' depth.
void nc_scan_init(nc_scan *scan, const nc_json_options *options, uint8_t *kinds);
/// The depth that the options ask for.
uint32_t nc_scan_max_depth(const nc_json_options *options);
/// Notes a fault, the first one only.
void nc_scan_fail(nc_scan *scan, nc_json_fault fault, uint64_t offset, int found, const char *wanted);
/// What the grammar wants at this place, in words.
const char *nc_scan_wanted(const nc_scan *scan);
/// Whether a number may end here.
bool nc_scan_is_number_whole(const nc_scan *scan);
/// The spelling of true, false or null.
const char *nc_scan_literal(uint8_t kind);
/// Where a non-ASCII byte leads: sets `left`, `low` and `high`; false for one that begins nothing.
bool nc_scan_begin_sequence(nc_scan *scan, uint8_t lead);

/// Whether nothing is under way that needs byte after byte: the block machine may take over.
static inline bool nc_scan_is_calm(const nc_scan *scan) {
    return scan->inside <= NC_INSIDE_STRING;
}

#endif
