/// JSON (RFC 8259) checked as it arrives: pieces of any size go in, the first wrong byte comes out.
///
/// No tree is built, nothing is read twice and memory stays flat: a document of any length takes what its depth asks.
/// Exactly RFC 8259 in exactly UTF-8: no byte order mark, no overlong forms, no surrogates in bytes, nothing behind the
/// value but white space. The verdict, the place and the words are the same however the text was cut into pieces.
///
///     nc_json *json = NULL;
///     nc_status status = nc_json_new(&json, NULL, &err);
///     while (status == NC_OK && read_more(&piece)) status = nc_json_feed(json, piece, &err);
///     if (status == NC_OK) status = nc_json_finish(json, &err);
///     if (status != NC_OK) fprintf(stderr, "%s\n", err.message);   // line 3, column 9: wanted ',' or '}', found 'x'
///     nc_json_free(json);
#ifndef NETCORE_JSON_H
#define NETCORE_JSON_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Arrays and objects within one another.
#define NC_JSON_DEFAULT_MAX_DEPTH 512u
/// The most that nc_json_options.max_depth may ask for.
#define NC_JSON_MAX_DEPTH 1000000u
/// Names that wait for a second of their kind, in all objects that are open at one time.
#define NC_JSON_DEFAULT_MAX_NAMES 1000000u

/// What is accepted; all zero is the default, and NULL means the same.
typedef struct nc_json_options {
    /// Arrays and objects within one another at most; 0 means NC_JSON_DEFAULT_MAX_DEPTH, at most NC_JSON_MAX_DEPTH.
    uint32_t max_depth;
    /// Names remembered at most while duplicates are refused; 0 means NC_JSON_DEFAULT_MAX_NAMES (24 bytes each).
    uint32_t max_names;
    /// Bytes of the whole text at most; 0 means no limit.
    uint64_t max_bytes;
    /// Bytes of one number at most; 0 means no limit (a number is never stored).
    uint64_t max_number_bytes;
    /// True accepts `\ud800` without its other half, as Python and browsers do.
    bool allows_lone_surrogates;
    /// True refuses a name that its object has already had, compared after unescaping.
    bool refuses_duplicate_names;
} nc_json_options;

/// What kind of fault a text has.
typedef NC_ENUM(nc_json_fault){
    /// None.
    NC_JSON_FAULT_NONE = 0,
    /// A byte that the grammar does not allow at its place.
    NC_JSON_FAULT_SYNTAX = 1,
    /// The text ends before its value does; an empty text too.
    NC_JSON_FAULT_ENDED = 2,
    /// Not UTF-8.
    NC_JSON_FAULT_UTF8 = 3,
    /// A control character in a string (U+0000 to U+001F must be escaped).
    NC_JSON_FAULT_CONTROL = 4,
    /// A `\` with something behind it that is no escape.
    NC_JSON_FAULT_ESCAPE = 5,
    /// One half of a surrogate pair alone.
    NC_JSON_FAULT_SURROGATE = 6,
    /// Deeper than nc_json_options.max_depth.
    NC_JSON_FAULT_DEPTH = 7,
    /// Longer than nc_json_options.max_bytes.
    NC_JSON_FAULT_SIZE = 8,
    /// A number longer than nc_json_options.max_number_bytes.
    NC_JSON_FAULT_NUMBER_LENGTH = 9,
    /// A name for the second time in one object; the place is the opening quote of the second.
    NC_JSON_FAULT_DUPLICATE = 10,
    /// More names at one time than nc_json_options.max_names.
    NC_JSON_FAULT_NAMES = 11,
} nc_json_fault;

/// Room for one word of an nc_json_failure, its NUL included.
#define NC_JSON_WORD_BYTES 64

/// Where and why a text is not JSON.
typedef struct nc_json_failure {
    /// NC_JSON_FAULT_NONE when nothing is wrong.
    nc_json_fault fault;
    /// The first byte that cannot stand there in any JSON text, counted from 0; the length of a text that ends early.
    uint64_t offset;
    /// Its line, counted from 1; lines end with a line feed.
    uint64_t line;
    /// Its column, counted from 1 in characters (code points), not bytes.
    uint64_t column;
    /// What could stand there, such as "',' or '}'"; NUL-terminated UTF-8.
    char wanted[NC_JSON_WORD_BYTES];
    /// What stands there, such as "'x'", "byte 0xff" or "the end of the text"; NUL-terminated ASCII.
    char found[NC_JSON_WORD_BYTES];
} nc_json_failure;

/// A check under way: pieces in, one verdict out. Allocates at birth, and beyond that only for duplicate names.
typedef struct nc_json nc_json;

/// Begins a check.
///
/// - out:     owned by the caller; release with nc_json_free().
/// - options: NULL means the defaults; copied.
/// Returns NC_OK, NC_ERR_USAGE for a depth above NC_JSON_MAX_DEPTH, NC_ERR_NO_MEMORY. Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_new(nc_json *NC_NULLABLE *NC_NONNULL out,
                                          const nc_json_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Frees a check; harmless on NULL.
///
/// Confined: one thread at a time.
NC_API void nc_json_free(nc_json *NC_NULLABLE json);

/// Goes back to the beginning, for another text under the same options.
///
/// Confined: one thread at a time.
NC_API void nc_json_reset(nc_json *json);

/// Takes the next piece, of any length.
///
/// The first wrong byte ends the check: this call and every later one, finish included, return the same failure.
///
/// Returns NC_OK while all is well, NC_ERR_BAD_JSON (err->offset is the place, err->message a line with line and
/// column), NC_ERR_NO_MEMORY (with duplicates refused), NC_ERR_USAGE after finish.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_json_feed(nc_json *json, nc_slice piece, nc_error *NC_NULLABLE err);

/// Says that the text has ended, and gives the verdict.
///
/// Returns NC_OK when one value has come and nothing else; otherwise as nc_json_feed(). May be repeated.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_json_finish(nc_json *json, nc_error *NC_NULLABLE err);

/// Tells what is wrong, until the check is reset or freed; its fault is NC_JSON_FAULT_NONE while all is well.
///
/// Confined: one thread at a time.
NC_API const nc_json_failure *nc_json_failure_of(const nc_json *json);

/// Tells whether nothing but white space has come, or nothing at all.
///
/// Confined: one thread at a time.
NC_API bool nc_json_is_blank(const nc_json *json);

/// Tells how many bytes were found right before the end or the fault.
///
/// Confined: one thread at a time.
NC_API uint64_t nc_json_bytes(const nc_json *json);

/// Checks a whole text at once.
///
/// - options: NULL means the defaults.
/// - failure: filled in any case; NULL when nobody asks.
/// Returns as nc_json_feed() and nc_json_finish(). Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_check(nc_slice text, const nc_json_options *NC_NULLABLE options,
                                            nc_json_failure *NC_NULLABLE failure, nc_error *NC_NULLABLE err);

/* --- reading --- */

/// What a token is.
typedef NC_ENUM(nc_json_kind){
    /// `{`; its members come next, and NC_JSON_OBJECT_END ends it.
    NC_JSON_OBJECT = 0,
    /// `}`.
    NC_JSON_OBJECT_END = 1,
    /// `[`; its elements come next, and NC_JSON_ARRAY_END ends it.
    NC_JSON_ARRAY = 2,
    /// `]`.
    NC_JSON_ARRAY_END = 3,
    /// The name of a member; its value comes next.
    NC_JSON_NAME = 4,
    /// A string.
    NC_JSON_STRING = 5,
    /// A number.
    NC_JSON_NUMBER = 6,
    /// `true`.
    NC_JSON_TRUE = 7,
    /// `false`.
    NC_JSON_FALSE = 8,
    /// `null`.
    NC_JSON_NULL = 9,
} nc_json_kind;

/// One token of a text.
typedef struct nc_json_token {
    /// What it is.
    nc_json_kind kind;
    /// Whether nc_json_unescape() has something to do: the text of a string or name holds a `\`.
    bool has_escapes;
    /// A string or name without its quotes and as it is written, a number's exact digits; otherwise empty. Part of the
    /// text that is read.
    nc_slice text;
    /// The token's first byte, its opening quote included, counted from 0.
    uint64_t offset;
} nc_json_token;

/// Receives one token; false stops the reading.
typedef bool (*nc_json_token_fn)(void *NC_NULLABLE ctx, const nc_json_token *token);

/// Reads a whole text, token by token, in order.
///
/// Tokens before a fault have been handed over when the fault is found: use them only after NC_OK.
///
/// - options: NULL means the defaults; max_names and refuses_duplicate_names count too.
/// - failure: as in nc_json_check().
/// Returns as nc_json_check(), NC_ERR_STOPPED_BY_CALLER when `on_token` said so (err->offset is the token).
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_read(nc_slice text, const nc_json_options *NC_NULLABLE options,
                                           nc_json_token_fn on_token, void *NC_NULLABLE ctx,
                                           nc_json_failure *NC_NULLABLE failure, nc_error *NC_NULLABLE err);

/// Appends a string's or name's characters, its escapes undone: `\u0000` becomes a NUL byte, a surrogate pair four
/// bytes, half a pair (where it was allowed) U+FFFD.
///
/// - raw: the text of a token, as nc_json_read() gave it.
/// A failure of `out` is sticky, as ever. Pure; call from any thread.
NC_API void nc_json_unescape(nc_buf *out, nc_slice raw);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
