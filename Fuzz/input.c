#include "input.h"

#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- input --- */

input input_init(const uint8_t *data, size_t size) {
    return (input){.left = {data, size}};
}

void input_deinit(input *in) {
    for (size_t i = 0; i < in->piece_count; i++) {
        free(in->pieces[i]);
    }
    in->piece_count = 0;
}

static nc_slice take(input *in, size_t length) {
    nc_slice taken = nc_slice_make(in->left.data, length);
    in->left = nc_slice_make(in->left.data + length, in->left.length - length);
    return taken;
}

uint8_t input_byte(input *in) {
    return in->left.length > 0 ? take(in, 1).data[0] : 0;
}

uint32_t input_number(input *in) {
    uint32_t high = input_byte(in);
    return high << 8 | input_byte(in);
}

static nc_slice copy(input *in, nc_slice bytes) {
    CHECK(in->piece_count < INPUT_MAX_PIECES);
    void *block = malloc(bytes.length > 0 ? bytes.length : 1);
    CHECK(block != NULL);
    if (bytes.length > 0) {
        memcpy(block, bytes.data, bytes.length);
    }
    in->pieces[in->piece_count++] = block;
    // One past the only byte of an empty piece: reading there is an error too.
    return nc_slice_make(bytes.length > 0 ? block : (uint8_t *)block + 1, bytes.length);
}

nc_slice input_piece(input *in) {
    size_t length = 0;
    while (length < in->left.length && in->left.data[length] != INPUT_SEPARATOR) {
        length++;
    }
    nc_slice piece = copy(in, take(in, length));
    (void)input_byte(in);
    return piece;
}

nc_slice input_rest(input *in) {
    return copy(in, take(in, in->left.length));
}

/* --- memory --- */

static atomic_size_t live_blocks;

static void *counted_allocate(void *ctx, size_t bytes) {
    (void)ctx;
    void *block = malloc(bytes);
    if (block != NULL) {
        atomic_fetch_add(&live_blocks, 1);
    }
    return block;
}

static void *counted_reallocate(void *ctx, void *block, size_t bytes) {
    void *moved = counted_allocate(ctx, bytes);
    if (moved == NULL || block == NULL) {
        return moved;
    }
    size_t old_bytes = malloc_usable_size(block);
    memcpy(moved, block, old_bytes < bytes ? old_bytes : bytes);
    atomic_fetch_sub(&live_blocks, 1);
    free(block);
    return moved;
}

static void counted_release(void *ctx, void *block) {
    (void)ctx;
    if (block != NULL) {
        atomic_fetch_sub(&live_blocks, 1);
        free(block);
    }
}

void memory_count_blocks(void) {
    static const nc_allocator counting = {NULL, counted_allocate, counted_reallocate, counted_release};
    nc_set_allocator(&counting);
}

/// The initialization of a fuzzer that does not define one.
__attribute__((weak)) int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    return 0;
}

size_t memory_live_blocks(void) {
    return atomic_load(&live_blocks);
}

/* --- checks --- */

/// Decodes one sequence. Returns 0 if it is truncated, overlong, a surrogate or beyond U+10FFFF.
static size_t decode(const uint8_t *bytes, size_t length) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t lead = bytes[0];
    size_t count = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (count == 0 || count > length) {
        return 0;
    }
    uint32_t point = count == 1 ? lead : lead & (0x7Fu >> count);
    for (size_t i = 1; i < count; i++) {
        if (bytes[i] >> 6 != 2) {
            return 0;
        }
        point = point << 6 | (bytes[i] & 0x3Fu);
    }
    bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
    return point >= least[count] && point <= 0x10FFFF && !is_surrogate ? count : 0;
}

size_t utf8_span_by_decoding(nc_slice text) {
    size_t at = 0;
    while (at < text.length) {
        size_t step = decode(text.data + at, text.length - at);
        if (step == 0) {
            break;
        }
        at += step;
    }
    return at;
}

bool holds_any(nc_slice text, const char *set) {
    for (size_t i = 0; i < text.length; i++) {
        if (strchr(set, text.data[i]) != NULL) { // also finds NUL
            return true;
        }
    }
    return false;
}

void check_error(const nc_error *err, nc_status status, size_t max_offset) {
    CHECK(err->status == status);
    CHECK(err->offset >= -1 && (err->offset < 0 || (uint64_t)err->offset <= max_offset));
    size_t length = strnlen(err->message, sizeof err->message);
    CHECK(length < sizeof err->message);
    CHECK((length == 0) == (status == NC_OK));
    nc_slice message = nc_slice_make(err->message, length);
    CHECK(utf8_span_by_decoding(message) == length);
    for (size_t i = 0; i < length; i++) {
        CHECK(message.data[i] >= ' ' && message.data[i] != 0x7F);
    }
    CHECK(status != NC_ERR_INTERNAL);
}

void check_failed(const char *file, int line, const char *condition) {
    fprintf(stderr, "%s:%d: broken: %s\n", file, line, condition);
    abort();
}
