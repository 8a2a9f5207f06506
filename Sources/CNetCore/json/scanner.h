/// The state machine of a JSON scan: its state between two bytes of a text, and its faults.
///
/// The plain check, shapes and token readers use the same state machine. Its code is json/scanner.inc, a template that
/// each consumer compiles with its own hooks. It contains two scanners. The token scanner finds tokens 64 bytes at a
/// time with nc_block_scan(). The byte scanner reads byte by byte: it finds every fault, and reads the rest of a text
/// that does not fill a block. To read a whole text, use nc_json_read() of <netcore/json.h>.
#ifndef NETCORE_PRIVATE_JSON_SCANNER_H
#define NETCORE_PRIVATE_JSON_SCANNER_H

#include "json/token_text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* --- block_scan.c: the offsets of tokens, 64 bytes at a time --- */

enum {
    NC_BLOCK_BYTES = 64,
    NC_BLOCKS_PER_BATCH = 64,
    /// Capacity for one offset per byte of a batch, plus the values that are written beyond the count.
    NC_BLOCK_MAX_OFFSETS = NC_BLOCK_BYTES * NC_BLOCKS_PER_BATCH + 64,
};

/// The state carried from one block to the next.
typedef struct nc_block_state {
    uint64_t in_string;    // all bits set within a string
    uint64_t is_escaped;   // 1 after a '\'
    uint64_t after_scalar; // 1 after a byte of a number or literal
    bool allows_lone_surrogates;
    bool has_previous;    // true if the preceding block was scanned and is clean
    size_t sequences_end; // end of the validated UTF-8 sequences; portable implementation only
    size_t batch_start;   // first block of the batch
    uint64_t backslashes; // one bit per block of the batch that contains a backslash
    size_t pair_at;       // the 'u' of a low surrogate's escape, which was already checked with its high surrogate
    size_t escapes_end;   // end of the last checked escape
} nc_block_state;

/// The offsets found in one batch of blocks.
typedef struct nc_block_offsets {
    size_t count;
    uint32_t offsets[NC_BLOCK_MAX_OFFSETS];
} nc_block_offsets;

/// Scans up to NC_BLOCKS_PER_BATCH blocks of text[at, length), up to the first block that is not clean. Writes the
/// offsets found, relative to `text`, to `offsets` and their number to `count`. Returns the number of bytes in the
/// clean blocks.
typedef size_t (*nc_block_scan_fn)(nc_block_state *state, const uint8_t *text, size_t at, size_t length,
                                   uint32_t *offsets, size_t *count);

/// Counts line feeds or, if `continuations` is true, UTF-8 continuation bytes.
typedef uint64_t (*nc_block_count_fn)(const uint8_t *bytes, size_t length, bool continuations);

/// One implementation.
typedef struct nc_block_scanner {
    const char *name;
    nc_block_scan_fn scan;
    nc_block_count_fn count;
    bool (*is_supported)(void);
} nc_block_scanner;

/// The implementations that were compiled, the fastest first. The last one runs on every processor.
extern const nc_block_scanner nc_block_scanners[];
extern const size_t nc_block_scanner_count;

/// Returns the fastest implementation that this processor supports.
const nc_block_scanner *nc_block_scanner_best(void);
/// Selects an implementation, for tests and benchmarks; NULL selects the fastest. No scan may be running.
void nc_block_scanner_select(const nc_block_scanner *scanner);

/* --- scanner.c --- */

/// The token that the grammar expects next; within a token, the one that it expects after it.
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
    NC_INSIDE_HEX,      // after '\u'; `remaining` digits
    NC_INSIDE_PAIR,     // after a high surrogate: expects '\'
    NC_INSIDE_PAIR_U,   // after the '\' of a low surrogate: expects 'u'
    NC_INSIDE_SEQUENCE, // UTF-8: `remaining` bytes follow, the next one from `next_min` to `next_max`
    NC_INSIDE_LITERAL,  // `matched` letters of `literal` were read
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
    uint64_t offset; // offset in the text of the current piece's first byte
    uint8_t state;
    uint8_t inside;
    bool is_object;    // whether the innermost container is an object
    bool is_name;      // whether the current string is a name
    bool is_delivered; // whether the consumer receives the current string or number
    bool has_begun;    // part of the current token was delivered
    bool has_ended;    // a fault was found, or the consumer stopped
    bool is_stopped;   // the consumer stopped
    bool allows_lone_surrogates;
    bool expects_low;    // the current digits are those of a low surrogate
    bool is_surrogate_d; // the first digit was 'd'
    bool is_high;        // the digits form a high surrogate
    uint8_t remaining;
    uint8_t next_min;
    uint8_t next_max;
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
    size_t token_at;       // offset in the piece from which on the current token was not delivered yet
    uint64_t fault_offset;
    const char *wanted; // what the grammar expects at the fault
    uint8_t *parents;   // for each open container, whether its parent is an object
} nc_scan;

/// What a hook returns for a scalar.
typedef enum nc_scan_action {
    NC_SCAN_STOP,
    NC_SCAN_SKIP,    // continue, and do not deliver the text
    NC_SCAN_DELIVER, // continue, and deliver the text
} nc_scan_action;

/// The tokens of one batch of blocks. It also contains copies of members of the scan, which the compiler can keep in
/// registers.
typedef struct nc_token_cursor {
    nc_scan *scan;
    const uint8_t *text;
    size_t length;
    const uint32_t *offsets; // of tokens
    size_t count;
    size_t next; // index of the next token
    size_t end;  // after the last token
    uint8_t *parents;
    uint32_t depth;
    uint32_t max_depth;
    uint64_t text_offset;
    uint32_t outer_depth; // the depth around a skipped container
    bool is_object;
    uint8_t state;
    const nc_block_state *blocks;
} nc_token_cursor;

/// A position in a text, counted piece by piece. A zeroed struct is line 1, column 1.
typedef struct nc_position {
    uint64_t line_feeds;
    uint64_t characters; // since the last line feed
} nc_position;

/// Prepares for a new text. `parents` must have nc_scan_max_depth() bytes.
void nc_scan_init(nc_scan *scan, const nc_json_options *options, uint8_t *parents);
/// Returns the maximum depth of the options.
uint32_t nc_scan_max_depth(const nc_json_options *options);

/// Records a fault, unless the scan has already ended.
void nc_scan_fail(nc_scan *scan, nc_json_fault fault, uint64_t offset, int found, const char *wanted);
/// Records a fault at a byte that the grammar does not allow.
void nc_scan_reject(nc_scan *scan, nc_json_fault fault, uint64_t offset, uint8_t byte);
/// Records that the text ended too early.
void nc_scan_fail_at_end(nc_scan *scan, uint64_t offset);

/// Begins a scalar with `byte`, which is at offset `at` of the piece. If no value begins with that byte, records a
/// fault and returns false.
bool nc_scan_begin_value(nc_json_kind *out, nc_scan *scan, size_t at, uint8_t byte);
/// Processes a byte within a literal or a string, except the closing quote.
void nc_scan_text_byte(nc_scan *scan, uint64_t offset, uint8_t byte);
/// Processes the next byte within a number. Returns false if it does not continue the number.
bool nc_scan_number_byte(nc_scan *scan, uint64_t offset, uint8_t byte);
/// Returns true if the current number may end here.
bool nc_scan_is_number_complete(const nc_scan *scan);
/// The clean blocks end at `end`, within a string. Returns the offset at which the byte scanner can continue, which is
/// not within an escape or a UTF-8 sequence.
size_t nc_scan_leave_string(nc_scan *scan, const nc_block_state *blocks, const uint8_t *text, size_t end);
/// Returns the end of the characters at text[at] that need no check: printable ASCII except '"' and '\'.
size_t nc_scan_plain_end(const uint8_t *text, size_t at, size_t length);

/// Advances the position over these bytes.
void nc_position_advance(nc_position *position, nc_slice bytes);
/// Fills `failure` with the scan's fault. `position` is the line and column of the fault.
void nc_scan_describe_fault(nc_json_failure *failure, const nc_scan *scan, nc_position position);
/// Fills `err` (which may be NULL) for `failure`. Returns NC_ERR_BAD_JSON, or NC_OK if there is no fault.
nc_status nc_scan_report_failure(const nc_json_failure *failure, nc_error *err);

/// Returns true if the token scanner may start here: the scan is between tokens or within a string.
static inline bool nc_scan_can_use_blocks(const nc_scan *scan) {
    return scan->inside <= NC_INSIDE_STRING;
}

/// Ends the scan unless the consumer continues.
static inline void nc_scan_stop_unless(nc_scan *scan, bool should_continue) {
    if (!should_continue && !scan->has_ended) {
        scan->has_ended = true;
        scan->is_stopped = true;
    }
}

/// Returns what the grammar expects after a value at this depth.
static inline uint8_t nc_scan_state_after_value(uint32_t depth) {
    return depth == 0 ? NC_SCAN_DONE : NC_SCAN_NEXT;
}

/// Begins a token whose text starts at offset `text_at` of the piece.
static inline void nc_scan_begin_token(nc_scan *s, nc_scan_inside inside, uint64_t offset, size_t text_at) {
    s->inside = (uint8_t)inside;
    s->has_begun = false;
    s->token_offset = offset;
    s->token_at = text_at;
}

/// Leaves a string or name to the byte scanner. Its opening quote is at `at`; its closing quote is beyond the scanned
/// blocks.
static inline void nc_cursor_leave_open(nc_token_cursor *c, size_t at, bool is_name, bool is_delivered) {
    nc_scan *s = c->scan;
    s->is_name = is_name;
    s->is_delivered = is_delivered;
    nc_scan_begin_token(s, NC_INSIDE_STRING, c->text_offset + at, at + 1);
    c->next++;
}

/// Returns the NC_TEXT_ flags for a string or name that is completely within the piece.
static inline unsigned nc_cursor_text_flags(const nc_token_cursor *c, size_t at, size_t length) {
    size_t block = (at - c->blocks->batch_start) / NC_BLOCK_BYTES;
    bool is_plain = length < NC_BLOCK_BYTES - 1 && (c->blocks->backslashes >> block & 3) == 0;
    return NC_TEXT_WHOLE | (is_plain ? (unsigned)NC_TEXT_PLAIN : 0u) |
           (c->length - at > 8 ? (unsigned)NC_TEXT_PADDED : 0u);
}

#endif
