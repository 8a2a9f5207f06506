/// What every fuzzer stands on: a reader that cuts libFuzzer's bytes into arguments, counted memory, and a check that
/// ends the program where the library breaks its word.
///
/// Pieces are copied to blocks of exactly their length, so that ASan sees each byte read past an end. The separator is
/// 0xFF, which no UTF-8 text holds: seeds stay readable, and CR, LF and NUL stay possible everywhere.
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

/// libFuzzer's entry points, each fuzzer's own; the first one only where more is to be arranged than to count blocks.
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

input input_init(const uint8_t *data, size_t size);
/// Frees the pieces.
void input_deinit(input *in);
/// One byte; 0 when there is none left.
uint8_t input_byte(input *in);
/// Two bytes as a number, big end first.
uint32_t input_number(input *in);
/// The bytes up to the next separator, copied exactly; the separator is dropped.
nc_slice input_piece(input *in);
/// All that is left, copied exactly.
nc_slice input_rest(input *in);

/// Counts the library's blocks from now on, and moves every block that grows.
void memory_count_blocks(void);
/// Blocks of the library that are alive.
size_t memory_live_blocks(void);

/// Well-formed UTF-8, by the code points that it spells (RFC 3629, 3): written apart from the library's own.
/// Returns how many bytes at the start are well-formed.
size_t utf8_span_by_decoding(nc_slice text);
/// Tells whether one of the bytes of the NUL-terminated `set`, or a NUL, is in `text`.
bool holds_any(nc_slice text, const char *set);
/// Checks what is promised of every nc_error: its status, one clean line, an offset of -1 or at most `max_offset`.
void check_error(const nc_error *err, nc_status status, size_t max_offset);

/// Ends the program with the place and the text of the condition.
void check_failed(const char *file, int line, const char *condition);
#define CHECK(condition) ((condition) ? (void)0 : check_failed(__FILE__, __LINE__, #condition))

#endif
