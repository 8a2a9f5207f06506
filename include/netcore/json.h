/// A streaming JSON validator (RFC 8259). It takes a text in pieces of any size and reports the first wrong byte.
///
/// It builds no tree and reads each byte once. Memory use depends on the depth of the text, not on its length. It
/// accepts exactly the texts of RFC 8259 in UTF-8. A byte order mark, overlong UTF-8, surrogates in UTF-8, and anything
/// except white space after the value are errors. Results, positions and messages do not depend on how the text was
/// split.
///
///     nc_json *json = NULL;
///     nc_status status = nc_json_new(&json, NULL, &err);
///     while (status == NC_OK && read_more(&piece)) status = nc_json_feed(json, piece, &err);
///     if (status == NC_OK) status = nc_json_finish(json, &err);
///     if (status != NC_OK) fprintf(stderr, "%s\n", err.message);   // line 3, column 9: expected ',' or '}', found 'x'
///     nc_json_free(json);
#ifndef NETCORE_JSON_H
#define NETCORE_JSON_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The default of nc_json_options.max_depth.
#define NC_JSON_DEFAULT_MAX_DEPTH 512u
/// The largest nc_json_options.max_depth.
#define NC_JSON_MAX_DEPTH 1000000u
/// The default of nc_json_options.max_names.
#define NC_JSON_DEFAULT_MAX_NAMES 1000000u

/// Options of a validator. All zero, or NULL, selects the defaults.
typedef struct nc_json_options {
    /// Largest depth of nested arrays and objects. 0 means NC_JSON_DEFAULT_MAX_DEPTH; at most NC_JSON_MAX_DEPTH.
    uint32_t max_depth;
    /// If `refuses_duplicate_names` is set: the largest number of names in all objects that are open at the same time.
    /// 0 means NC_JSON_DEFAULT_MAX_NAMES. Each name takes 24 bytes.
    uint32_t max_names;
    /// Largest text, in bytes. 0 means no limit.
    uint64_t max_bytes;
    /// Longest number, in bytes. 0 means no limit; numbers are not stored, so they need no memory.
    uint64_t max_number_bytes;
    /// True accepts half of a surrogate pair, such as `\ud800` alone, as Python and browsers do.
    bool allows_lone_surrogates;
    /// True refuses a duplicate name in an object. Names are compared after unescaping.
    bool refuses_duplicate_names;
} nc_json_options;

/// The kind of an error in a text.
typedef NC_ENUM(nc_json_fault){
    /// None.
    NC_JSON_FAULT_NONE = 0,
    /// A byte that the grammar does not allow at this position.
    NC_JSON_FAULT_SYNTAX = 1,
    /// The text is incomplete or empty.
    NC_JSON_FAULT_ENDED = 2,
    /// Invalid UTF-8.
    NC_JSON_FAULT_UTF8 = 3,
    /// An unescaped control character in a string (U+0000 to U+001F).
    NC_JSON_FAULT_CONTROL = 4,
    /// An invalid escape.
    NC_JSON_FAULT_ESCAPE = 5,
    /// Half of a surrogate pair.
    NC_JSON_FAULT_SURROGATE = 6,
    /// Depth above nc_json_options.max_depth.
    NC_JSON_FAULT_DEPTH = 7,
    /// Length above nc_json_options.max_bytes.
    NC_JSON_FAULT_SIZE = 8,
    /// A number longer than nc_json_options.max_number_bytes.
    NC_JSON_FAULT_NUMBER_LENGTH = 9,
    /// A duplicate name in an object. The position is the opening quote of the second one.
    NC_JSON_FAULT_DUPLICATE = 10,
    /// More names than nc_json_options.max_names.
    NC_JSON_FAULT_NAMES = 11,
} nc_json_fault;

/// The size of each text in an nc_json_failure, including NUL.
#define NC_JSON_WORD_BYTES 64

/// The position and reason of an error in a text.
typedef struct nc_json_failure {
    /// NC_JSON_FAULT_NONE if there is no error.
    nc_json_fault fault;
    /// Offset of the first byte that cannot occur at its position in any JSON text, from 0. If the text is incomplete,
    /// its length.
    uint64_t offset;
    /// Line, from 1. Lines end with a line feed.
    uint64_t line;
    /// Column, from 1, in characters (code points), not bytes.
    uint64_t column;
    /// What was expected, such as "',' or '}'"; NUL-terminated UTF-8.
    char wanted[NC_JSON_WORD_BYTES];
    /// What was found, such as "'x'", "byte 0xff" or "the end of the text"; NUL-terminated ASCII.
    char found[NC_JSON_WORD_BYTES];
} nc_json_failure;

/// A running validation. Memory is allocated when it is created, and later only to detect duplicate names.
typedef struct nc_json nc_json;

/// Creates a validator.
///
/// - out:     owned by the caller; release it with nc_json_free().
/// - options: NULL means the defaults; copied.
/// Returns NC_OK, NC_ERR_USAGE for a depth above NC_JSON_MAX_DEPTH, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_new(nc_json *NC_NULLABLE *NC_NONNULL out,
                                          const nc_json_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Frees a validator. NULL is allowed.
///
/// Confined: one thread at a time.
NC_API void nc_json_free(nc_json *NC_NULLABLE json);

/// Resets a validator for another text with the same options.
///
/// Confined: one thread at a time.
NC_API void nc_json_reset(nc_json *json);

/// Validates the next piece, of any length.
///
/// After the first wrong byte this call and every later one, including finish, return the same error.
///
/// Returns NC_OK, NC_ERR_BAD_JSON (err->offset is the position, err->message has line and column), NC_ERR_NO_MEMORY
/// (only if duplicates are refused), NC_ERR_USAGE after finish.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_json_feed(nc_json *json, nc_slice piece, nc_error *NC_NULLABLE err);

/// Ends the text and returns the final result.
///
/// Returns NC_OK if the text is exactly one value; otherwise the statuses of nc_json_feed(). Further calls return the
/// same result.
/// Confined: one thread at a time.
NC_API NC_NODISCARD nc_status nc_json_finish(nc_json *json, nc_error *NC_NULLABLE err);

/// Returns the error, valid until the validator is reset or freed. Its `fault` is NC_JSON_FAULT_NONE if there is no
/// error.
///
/// Confined: one thread at a time.
NC_API const nc_json_failure *nc_json_failure_of(const nc_json *json);

/// Returns true if the text so far is empty or white space.
///
/// Confined: one thread at a time.
NC_API bool nc_json_is_blank(const nc_json *json);

/// Returns the number of valid bytes before the end or the error.
///
/// Confined: one thread at a time.
NC_API uint64_t nc_json_bytes(const nc_json *json);

/// Validates a whole text.
///
/// - options: NULL means the defaults.
/// - failure: always filled in; may be NULL.
/// Returns the statuses of nc_json_feed() and nc_json_finish().
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_check(nc_slice text, const nc_json_options *NC_NULLABLE options,
                                            nc_json_failure *NC_NULLABLE failure, nc_error *NC_NULLABLE err);

/* --- reading --- */

/// The kind of a token.
typedef NC_ENUM(nc_json_kind){
    /// `{`. The members follow, and then NC_JSON_OBJECT_END.
    NC_JSON_OBJECT = 0,
    /// `}`.
    NC_JSON_OBJECT_END = 1,
    /// `[`. The elements follow, and then NC_JSON_ARRAY_END.
    NC_JSON_ARRAY = 2,
    /// `]`.
    NC_JSON_ARRAY_END = 3,
    /// The name of a member. Its value follows.
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
    /// Its kind.
    nc_json_kind kind;
    /// True if a string or name contains a `\`, so that nc_json_unescape() changes it.
    bool has_escapes;
    /// A string or name as it is written, without its quotes, or the digits of a number. Otherwise empty. Borrowed from
    /// the text.
    nc_slice text;
    /// Offset of the token's first byte, from 0. The first byte of a string or name is its opening quote.
    uint64_t offset;
} nc_json_token;

/// Receives one token. Returning false stops reading.
typedef bool (*nc_json_token_fn)(void *NC_NULLABLE ctx, const nc_json_token *token);

/// Reads a whole text as a sequence of tokens.
///
/// Tokens are reported while the text is validated. If an error follows, the tokens before it have already been
/// reported. Use them only after NC_OK.
///
/// - options: NULL means the defaults.
/// - failure: as in nc_json_check().
/// Returns the statuses of nc_json_check(), or NC_ERR_STOPPED_BY_CALLER if `on_token` returned false (err->offset is
/// the offset of that token).
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_json_read(nc_slice text, const nc_json_options *NC_NULLABLE options,
                                           nc_json_token_fn on_token, void *NC_NULLABLE ctx,
                                           nc_json_failure *NC_NULLABLE failure, nc_error *NC_NULLABLE err);

/// Appends a string or name with its escapes decoded.
///
/// `\u0000` becomes a NUL byte, a surrogate pair four bytes, and half of a pair (if it was allowed) U+FFFD.
/// - raw: the text of a token from nc_json_read().
/// An error is sticky in `out`.
/// Pure; call from any thread.
NC_API void nc_json_unescape(nc_buf *out, nc_slice raw);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
