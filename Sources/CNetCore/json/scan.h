/// The state of a scan between two bytes of a text.
///
/// One state machine serves the plain check, shapes and token readers. json/scan_core.h is its code: a template that
/// each consumer compiles with its own hooks. json/blocks.h finds interesting offsets 64 bytes at a time. The byte
/// machine defines what is valid, finds every fault, and processes the remainders. To read a whole text, use
/// nc_json_read() of <netcore/json.h>.
#ifndef NETCORE_PRIVATE_JSON_SCAN_H
#define NETCORE_PRIVATE_JSON_SCAN_H

#include <netcore/json.h>

/// The next token that the grammar expects, or the one after the current token.
typedef enum nc_scan_state {
    NC_SCAN_VALUE,
    NC_SCAN_FIRST_VALUE, // or ']'
    NC_SCAN_FIRST_NAME,  // or '}'
    NC_SCAN_NAME,
    NC_SCAN_COLON,
    NC_SCAN_NEXT, // ',' or the end of the container
    NC_SCAN_DONE, // white space only
} nc_scan_state;

/// The part of a token that the scan is in.
typedef enum nc_scan_inside {
    NC_INSIDE_NOTHING,
    NC_INSIDE_STRING,
    NC_INSIDE_ESCAPE,   // after '\'
    NC_INSIDE_HEX,      // after '\u'; `left` digits remain
    NC_INSIDE_PAIR,     // after a high surrogate: expects '\'
    NC_INSIDE_PAIR_U,   // then 'u'
    NC_INSIDE_SEQUENCE, // of UTF-8: `left` bytes remain, the next one within `low` and `high`
    NC_INSIDE_LITERAL,  // of `literal`: `matched` letters were read
    NC_INSIDE_MINUS,    // from here on: the parts of a number
    NC_INSIDE_ZERO,     // a leading zero
    NC_INSIDE_INTEGER,  // digits
    NC_INSIDE_POINT,    // '.'; expects a digit
    NC_INSIDE_FRACTION, // digits
    NC_INSIDE_E,        // expects a sign or a digit
    NC_INSIDE_E_SIGN,   // expects a digit
    NC_INSIDE_EXPONENT, // digits
} nc_scan_inside;

typedef struct nc_scan {
    uint64_t offset; // of the piece's first byte
    uint8_t state;
    uint8_t inside;
    bool is_object; // about the innermost container
    bool is_name;   // about the current string
    bool is_read;   // the current string or number is delivered to the consumer
    bool has_begun; // part of the current token was delivered
    bool is_over;   // a fault was found, or the consumer stopped
    bool is_stopped;
    bool allows_lone_surrogates;
    bool wants_low;      // the current digits are those of a low surrogate
    bool is_surrogate_d; // the first digit was 'd'
    bool is_high;        // the digits form a high surrogate
    uint8_t left;
    uint8_t low;
    uint8_t high;
    uint8_t literal; // an nc_json_kind
    uint8_t matched;
    int16_t found; // the byte at fault; -1 for none
    nc_json_fault fault;
    uint32_t depth;
    uint32_t max_depth;
    uint64_t number_bytes; // of the current number
    uint64_t max_number_bytes;
    uint64_t max_bytes;
    uint64_t token_offset; // start of the current token
    size_t token_at;       // offset in the piece of the current token's undelivered part
    uint64_t fault_offset;
    const char *wanted;
    uint8_t *kinds; // per open container, true if its parent is an object
} nc_scan;

/// Which part of its token a delivered text is.
enum {
    NC_TEXT_FIRST = 1,
    NC_TEXT_LAST = 2,
    NC_TEXT_WHOLE = 3,
    NC_TEXT_PLAIN = 4, // certainly no escapes; for a number, only digits and a sign
    NC_TEXT_ROOM = 8,  // eight bytes are readable from its start
};

/// A hook's result for a value or a name.
typedef enum nc_scan_answer {
    NC_SCAN_STOP,
    NC_SCAN_PASS, // continue without the text
    NC_SCAN_READ, // deliver the text
} nc_scan_answer;

/// Prepares for a new text. `kinds` has room for the depth of the options.
void nc_scan_init(nc_scan *scan, const nc_json_options *options, uint8_t *kinds);
/// Returns the maximum depth of the options.
uint32_t nc_scan_max_depth(const nc_json_options *options);
/// Records a fault, unless one is recorded.
void nc_scan_fail(nc_scan *scan, nc_json_fault fault, uint64_t offset, int found, const char *wanted);
/// Describes what the grammar expects here.
const char *nc_scan_wanted(const nc_scan *scan);
/// Returns true if the current number may end here.
bool nc_scan_is_number_whole(const nc_scan *scan);
/// Returns the spelling of true, false or null.
const char *nc_scan_literal(uint8_t kind);
/// Classifies a non-ASCII lead byte: sets `left`, `low` and `high`. Returns false if it begins no sequence.
bool nc_scan_begin_sequence(nc_scan *scan, uint8_t lead);

/// Returns true if the block machine may continue: nothing is pending that must be read byte by byte.
static inline bool nc_scan_is_calm(const nc_scan *scan) {
    return scan->inside <= NC_INSIDE_STRING;
}

#endif
