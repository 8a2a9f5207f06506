/// The base of every fuzzer: a reader that cuts libFuzzer's bytes into arguments, counted memory, and a check that ends
/// the program if the library breaks its contract.
///
/// Pieces are copied to blocks of exactly their length, so that ASan detects each read past an end. The separator is
/// 0xFF, which never occurs in UTF-8: seeds stay readable, and CR, LF and NUL stay possible everywhere.
///
///     nc_slice url = input_piece(&in);
///     CHECK(nc_url_resolve(&out, url, input_rest(&in), &err) != NC_ERR_INTERNAL);
///     input_deinit(&in);
#ifndef NETCORE_FUZZ_INPUT_H
#define NETCORE_FUZZ_INPUT_H

#include <netcore.h>

enum { INPUT_MAX_PIECES = 64, INPUT_SEPARATOR = 0xFF };

/// One input, read from its start.
typedef struct input {
    nc_slice left;
    void *pieces[INPUT_MAX_PIECES];
    size_t piece_count;
} input;

/// libFuzzer's entry points, defined by each fuzzer; the first one only if it needs more than counted blocks.
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

input input_init(const uint8_t *data, size_t size);
/// Frees the pieces.
void input_deinit(input *in);
/// Returns one byte; 0 if none is left.
uint8_t input_byte(input *in);
/// Returns two bytes as a big-endian number.
uint32_t input_number(input *in);
/// Returns the bytes up to the next separator, copied to a block of exactly their length. The separator is dropped.
nc_slice input_piece(input *in);
/// Returns the remaining bytes, copied to a block of exactly their length.
nc_slice input_rest(input *in);

/// Counts the library's blocks from now on, and moves every block that grows.
void memory_count_blocks(void);
/// Returns the number of blocks that the library has allocated.
size_t memory_live_blocks(void);

/// Returns how many bytes at the start are well-formed UTF-8 (RFC 3629, 3). Decodes code points, independent of the
/// library.
size_t utf8_span_by_decoding(nc_slice text);
/// Returns true if `text` contains one of the bytes of the NUL-terminated `set`, or a NUL.
bool holds_any(nc_slice text, const char *set);
/// Checks an nc_error: its status, a message of one printable line, an offset of -1 or at most `max_offset`.
void check_error(const nc_error *err, nc_status status, size_t max_offset);

/// Ends the program, and prints the position and the text of the condition.
void check_failed(const char *file, int line, const char *condition);
#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#endif
