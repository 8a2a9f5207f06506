/// Threat B2: a body that decodes to 1 GiB of zeros stops at its limit with little memory, for every kind of reader.
///
/// The test creates the bombs. zlib writes one MiB and a full flush, whose output is repeated a thousand times. zstd
/// has blocks that mean "131,072 times this byte". libbrotlienc is installed beside the decoder. Codings that the
/// process lacks are skipped. Durations are printed and never asserted.
#include "coded.h"
#include "threat.h"
#include "torture.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define MEBIBYTE ((size_t)1 << 20)

enum { UNITS = 1024, LIMIT_MIB = 16, MAX_GROWTH_MIB = 32, MAX_BOMB_BYTES = 1 << 25, MAX_STACK = 6 };

/// The number of pieces that the loop may still deliver after a cancel: those of one iteration.
enum { MAX_PIECES_A_TURN = 64 };

typedef struct bomb {
    const char *codings;
    nc_buf bytes;
    nc_status status; // the expected status
} bomb;

/* --- making them --- */

static void append(nc_buf *out, const void *bytes, size_t length) {
    nc_buf_append(out, nc_slice_make(bytes, length));
    assert_status(nc_buf_status(out), NC_OK);
}

static void append_number(nc_buf *out, uint32_t value, bool is_big_endian) {
    for (int i = 0; i < 4; i++) {
        int shift = is_big_endian ? 24 - 8 * i : 8 * i;
        append(out, &(uint8_t){(uint8_t)(value >> shift)}, 1);
    }
}

/// Returns one MiB of zeros as raw deflate blocks that end at a byte and refer to nothing before them.
static nc_buf zero_blocks(const uint8_t *zeros) {
    nc_buf out = nc_buf_init(MAX_BOMB_BYTES);
    z_stream stream = {.next_in = (Bytef *)(uintptr_t)zeros, .avail_in = (uInt)MEBIBYTE};
    assert_int_equal(deflateInit2(&stream, 9, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY), Z_OK);
    assert_status(nc_buf_reserve(&out, 8192), NC_OK);
    stream.next_out = out.data;
    stream.avail_out = 8192;
    assert_int_equal(deflate(&stream, Z_FULL_FLUSH), Z_OK);
    out.length = stream.total_out;
    (void)deflateEnd(&stream);
    return out;
}

static nc_buf make_deflate(const uint8_t *zeros, bool is_gzip) {
    static const uint8_t gzip_head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3};
    static const uint8_t zlib_head[] = {0x78, 0xda};
    nc_buf out = nc_buf_init(MAX_BOMB_BYTES);
    nc_buf unit = zero_blocks(zeros);
    uLong one = is_gzip ? crc32(0, zeros, (uInt)MEBIBYTE) : adler32(1, zeros, (uInt)MEBIBYTE);
    uLong sum = is_gzip ? 0 : 1;
    append(&out, is_gzip ? gzip_head : zlib_head, is_gzip ? sizeof gzip_head : sizeof zlib_head);
    for (size_t i = 0; i < UNITS; i++) {
        append(&out, unit.data, unit.length);
        sum = is_gzip ? crc32_combine(sum, one, (z_off_t)MEBIBYTE) : adler32_combine(sum, one, (z_off_t)MEBIBYTE);
    }
    append(&out, "\x03\x00", 2); // an empty last block
    append_number(&out, (uint32_t)sum, !is_gzip);
    if (is_gzip) {
        append_number(&out, (uint32_t)(UNITS * MEBIBYTE), false);
    }
    nc_buf_deinit(&unit);
    return out;
}

/// RFC 8878, 3.1.1: a frame with a window of 1 MiB, and blocks that repeat a byte.
static nc_buf make_zstd(void) {
    enum { BLOCK_BYTES = 128 * 1024, IS_RLE = 1 << 1 };
    nc_buf out = nc_buf_init(MAX_BOMB_BYTES);
    size_t blocks = UNITS * MEBIBYTE / BLOCK_BYTES;
    append(&out, "\x28\xb5\x2f\xfd\x00\x50", 6);
    for (size_t i = 0; i < blocks; i++) {
        uint32_t head = (i + 1 == blocks ? 1u : 0u) | IS_RLE | (uint32_t)BLOCK_BYTES << 3;
        const uint8_t block[4] = {(uint8_t)head, (uint8_t)(head >> 8), (uint8_t)(head >> 16), 0};
        append(&out, block, sizeof block);
    }
    return out;
}

/// The stable part of <brotli/encode.h>.
typedef struct brotli {
    void *(*create)(void *, void *, void *);
    int (*compress)(void *, int operation, size_t *in, const uint8_t **next_in, size_t *out, uint8_t **next_out,
                    size_t *total);
    int (*set)(void *, int parameter, uint32_t value);
    void (*destroy)(void *);
} brotli;

enum { BROTLI_FLUSH = 1, BROTLI_FINISH = 2, BROTLI_QUALITY = 1 };

static void find(void *library, const char *name, void *function) {
    void *found = dlsym(library, name);
    assert_non_null(found);
    memcpy(function, &found, sizeof found);
}

static brotli find_brotli(void) {
    brotli encoder;
    void *library = dlopen("libbrotlienc.so.1", RTLD_NOW); // stays until the end
    assert_non_null(library);
    find(library, "BrotliEncoderCreateInstance", &encoder.create);
    find(library, "BrotliEncoderCompressStream", &encoder.compress);
    find(library, "BrotliEncoderSetParameter", &encoder.set);
    find(library, "BrotliEncoderDestroyInstance", &encoder.destroy);
    return encoder;
}

static void compress_piece(const brotli *encoder, void *state, nc_buf *out, nc_slice piece, int operation) {
    size_t in = piece.length;
    const uint8_t *next_in = piece.data;
    size_t room = piece.length + 4096;
    assert_status(nc_buf_reserve(out, room), NC_OK);
    uint8_t *next_out = out->data + out->length;
    size_t before = room;
    assert_true(encoder->compress(state, operation, &in, &next_in, &room, &next_out, NULL) && in == 0);
    out->length += before - room;
}

static nc_buf compress_brotli(nc_slice plain) {
    brotli encoder = find_brotli();
    void *state = encoder.create(NULL, NULL, NULL);
    nc_buf out = nc_buf_init(MAX_BOMB_BYTES);
    assert_non_null(state);
    (void)encoder.set(state, BROTLI_QUALITY, 5);
    compress_piece(&encoder, state, &out, plain, BROTLI_FINISH);
    encoder.destroy(state);
    return out;
}

/// The output after the first MiB repeats, so the second MiB represents all others.
static nc_buf make_brotli(const uint8_t *zeros) {
    brotli encoder = find_brotli();
    void *state = encoder.create(NULL, NULL, NULL);
    nc_buf out = nc_buf_init(MAX_BOMB_BYTES);
    nc_slice piece = nc_slice_make(zeros, MEBIBYTE);
    assert_non_null(state);
    (void)encoder.set(state, BROTLI_QUALITY, 5);
    compress_piece(&encoder, state, &out, piece, BROTLI_FLUSH);
    size_t begin = out.length;
    compress_piece(&encoder, state, &out, piece, BROTLI_FLUSH);
    encoder.destroy(state);
    nc_buf second = encoded_copy(nc_slice_make(out.data + begin, out.length - begin));
    for (size_t i = 2; i < UNITS; i++) {
        append(&out, second.data, second.length);
    }
    append(&out, "\x03", 1); // RFC 7932, 9.2: the last meta-block, empty
    nc_buf_deinit(&second);
    return out;
}

static nc_buf wrap(nc_buf inner) {
    nc_buf outer = encoded_deflate(nc_buf_slice(&inner), ENCODED_GZIP);
    nc_buf_deinit(&inner);
    return outer;
}

static bomb bombs[8];
static size_t bomb_count;

static void add(const char *codings, nc_buf bytes) {
    bombs[bomb_count++] = (bomb){.codings = codings, .bytes = bytes, .status = NC_ERR_BODY_TOO_LARGE};
}

/// Creates the bombs once for all cases, in such an order that every second bomb is of another kind. Slower cases use
/// only those.
static int make_bombs(void **state) {
    (void)state;
    uint8_t *zeros = calloc(1, MEBIBYTE);
    assert_non_null(zeros);
    add("gzip", make_deflate(zeros, true));
    add("deflate", make_deflate(zeros, false));
    add("gzip, gzip", wrap(make_deflate(zeros, true)));
    nc_buf six = make_deflate(zeros, true);
    for (int i = 1; i < MAX_STACK; i++) {
        six = wrap(six);
    }
    add("gzip, gzip, gzip, gzip, gzip, gzip", six);
    if (nc_capabilities_query().has_brotli) {
        nc_buf inner = make_deflate(zeros, true);
        add("br", make_brotli(zeros));
        add("gzip, br", compress_brotli(nc_buf_slice(&inner)));
        nc_buf_deinit(&inner);
    }
    if (nc_capabilities_query().has_zstd) {
        add("zstd", make_zstd());
    }
    for (size_t i = 0; i < bomb_count; i++) {
        print_message("%-40s %8zu bytes\n", bombs[i].codings, bombs[i].bytes.length);
    }
    free(zeros);
    return 0;
}

static int free_bombs(void **state) {
    (void)state;
    while (bomb_count > 0) {
        nc_buf_deinit(&bombs[--bomb_count].bytes);
    }
    return 0;
}

/* --- memory --- */

/// Returns a line of /proc/self/status in KiB.
static size_t memory_kib(const char *name) {
    char line[128];
    size_t kib = 0;
    FILE *file = fopen("/proc/self/status", "r");
    assert_non_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        if (strncmp(line, name, strlen(name)) == 0) {
            kib = strtoul(line + strlen(name), NULL, 10);
        }
    }
    (void)fclose(file);
    return kib;
}

/// Resets VmHWM to the current use, which it returns.
static size_t begin_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    assert_non_null(file);
    assert_true(fputs("5", file) >= 0 && fclose(file) == 0);
    return memory_kib("VmRSS:");
}

static void expect_little_memory(const char *codings, size_t before_kib) {
    size_t peak_kib = memory_kib("VmHWM:");
    size_t growth_kib = peak_kib > before_kib ? peak_kib - before_kib : 0;
    // Sanitizers keep freed memory.
    if (!threat_is_sanitized() && growth_kib >= MAX_GROWTH_MIB * 1024) {
        fail_msg("%s: memory grew by %zu KiB", codings, growth_kib);
    }
}

/* --- readers --- */

/// Reads a body and counts its bytes. If `pauses` is set, it pauses after each piece.
typedef struct reader {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    nc_engine *engine;
    nc_transfer_id id;
    uint64_t bytes;
    size_t pieces;
    bool pauses;
    bool cancels;
    size_t pieces_after_cancel;
    bool is_paused_reading;
    bool is_done;
    nc_error error;
} reader;

#define READER_INIT                                                                                                    \
    { .mutex = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER }

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    reader *one = ctx;
    one->bytes += bytes.length;
    one->pieces++;
    one->pieces_after_cancel += one->cancels && one->pieces > 1 ? 1 : 0;
    if (one->cancels && one->pieces == 1) {
        nc_engine_cancel(one->engine, id);
    }
    if (!one->pauses) {
        return NC_ACTION_CONTINUE;
    }
    pthread_mutex_lock(&one->mutex);
    one->is_paused_reading = true;
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->mutex);
    return NC_ACTION_PAUSE;
}

static void on_done(void *ctx, nc_transfer_id id, nc_response *response, const nc_error *error) {
    reader *one = ctx;
    (void)id;
    (void)response;
    pthread_mutex_lock(&one->mutex);
    one->error = *error;
    one->is_done = true;
    pthread_cond_signal(&one->changed);
    pthread_mutex_unlock(&one->mutex);
}

/// Reads to the end. This thread resumes a paused reader after each piece.
static void read_all(fixture *f, const nc_request *request, reader *one) {
    const nc_sink sink = {.ctx = one, .on_body = on_body, .on_done = on_done};
    one->engine = f->engine;
    assert_status(nc_engine_submit(f->engine, request, &sink, &one->id, NULL), NC_OK);
    pthread_mutex_lock(&one->mutex);
    while (!one->is_done) {
        if (one->is_paused_reading) {
            one->is_paused_reading = false;
            pthread_mutex_unlock(&one->mutex);
            nc_engine_resume(f->engine, one->id);
            pthread_mutex_lock(&one->mutex);
        } else {
            pthread_cond_wait(&one->changed, &one->mutex);
        }
    }
    pthread_mutex_unlock(&one->mutex);
}

static void script_bomb(fixture *f, const bomb *one) {
    fixture_script(f, "/bomb",
                   (nct_reply){.headers = fixture_text(f, "Content-Encoding: %s\r\n", one->codings),
                               .body = one->bytes.data,
                               .body_length = one->bytes.length});
}

static nc_request bomb_request(fixture *f) {
    nc_request request = fixture_request(f, "/bomb");
    request.accepts_codings = true;
    request.limits.max_body_bytes = LIMIT_MIB * MEBIBYTE;
    request.limits.max_codings = MAX_STACK;
    return request;
}

static void run_all_bombs(bool pauses) {
    fixture f;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < bomb_count; i += pauses ? 2 : 1) {
        reader one = READER_INIT;
        one.pauses = pauses;
        script_bomb(&f, &bombs[i]);
        nc_request request = bomb_request(&f);
        size_t before_kib = begin_peak();
        uint64_t began_ms = torture_now_ms();
        read_all(&f, &request, &one);
        print_message("%-40s %8llu bytes in %zu pieces, %u ms\n", bombs[i].codings, (unsigned long long)one.bytes,
                      one.pieces, (unsigned)(torture_now_ms() - began_ms));
        assert_status(one.error.status, bombs[i].status);
        // The limit, minus the piece that would have exceeded it.
        assert_true(one.bytes <= LIMIT_MIB * MEBIBYTE && one.bytes + NC_CODING_PIECE_BYTES >= LIMIT_MIB * MEBIBYTE);
        expect_little_memory(bombs[i].codings, before_kib);
    }
    fixture_stop(&f);
}

static void bombs__are_stopped_at_the_limit(void **state) {
    (void)state;
    run_all_bombs(false);
}

static void bombs__are_stopped_at_the_limit_of_a_paused_reader(void **state) {
    (void)state;
    run_all_bombs(true);
}

static void bombs__collected_in_memory_use_little_memory(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < bomb_count; i += 2) {
        threat_transfer transfer;
        threat_batch batch = THREAT_BATCH_INIT(f.engine);
        script_bomb(&f, &bombs[i]);
        nc_request request = bomb_request(&f);
        assert_status(threat_submit(&batch, &request, &transfer), NC_OK);
        threat_await(&batch, 0);
        assert_status(transfer.error.status, bombs[i].status);
        assert_true(nc_response_body(transfer.response).length <= LIMIT_MIB * MEBIBYTE);
        threat_release(&transfer, 1);
    }
    fixture_stop(&f);
}

/// The default limit is three codings. A body with four is rejected before anything is decoded.
static void bombs__with_more_codings_than_allowed_are_not_decoded(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    script_bomb(&f, &bombs[3]);
    reader one = READER_INIT;
    nc_request request = bomb_request(&f);
    request.limits.max_codings = 0;
    read_all(&f, &request, &one);
    assert_status(one.error.status, NC_ERR_BAD_CODING);
    assert_int_equal(one.bytes, 0);
    fixture_stop(&f);
}

/* --- files --- */

static atomic_ullong written_bytes;

static ssize_t counted_write(void *ctx, int fd, const void *bytes, size_t length) {
    const nc_file_ops *system = ctx;
    ssize_t count = system->write(system->ctx, fd, bytes, length);
    atomic_fetch_add(&written_bytes, count > 0 ? (unsigned long long)count : 0);
    return count;
}

static void bombs__leave_no_file_and_never_write_more_than_the_limit(void **state) {
    fixture f;
    char directory[] = "/tmp/netcore-bombs-XXXXXX";
    char path[64];
    nc_file_ops system = nc_file_ops_system();
    nc_file_ops counting = system;
    (void)state;
    assert_non_null(mkdtemp(directory));
    (void)snprintf(path, sizeof path, "%s/saved", directory);
    // Only write() is replaced. The other operations get its context, so they must not need their own.
    assert_null(system.ctx);
    counting.ctx = &system;
    counting.write = counted_write;
    fixture_start_with(&f, NULL, &(nc_engine_options){.file_ops = &counting});
    for (size_t i = 0; i < bomb_count; i += 2) {
        atomic_store(&written_bytes, 0);
        script_bomb(&f, &bombs[i]);
        nc_request request = bomb_request(&f);
        request.save_path = nc_slice_of(path);
        size_t before_kib = begin_peak();
        answer one = fixture_send(&f, &request);
        assert_status(one.error.status, bombs[i].status);
        assert_true(atomic_load(&written_bytes) <= LIMIT_MIB * MEBIBYTE);
        assert_true(atomic_load(&written_bytes) + NC_CODING_PIECE_BYTES >= LIMIT_MIB * MEBIBYTE);
        expect_little_memory(bombs[i].codings, before_kib);
    }
    fixture_stop(&f);
    assert_int_equal(rmdir(directory), 0); // fails if a file is left
}

/* --- turns --- */

/// One piece of input can decode to hundreds of MiB, so the loop delivers only a few pieces between two reads of its
/// mailbox.
static void bombs__do_not_delay_a_cancel(void **state) {
    fixture f;
    (void)state;
    fixture_start(&f, NCT_PLAIN);
    for (size_t i = 0; i < bomb_count; i++) {
        reader one = READER_INIT;
        one.cancels = true;
        script_bomb(&f, &bombs[i]);
        nc_request request = bomb_request(&f);
        request.limits.max_body_bytes = NC_UNLIMITED_BYTES;
        read_all(&f, &request, &one);
        print_message("%-40s %zu pieces after the cancel\n", bombs[i].codings, one.pieces_after_cancel);
        assert_status(one.error.status, NC_ERR_CANCELLED);
        assert_true(one.pieces_after_cancel < MAX_PIECES_A_TURN);
    }
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(bombs__are_stopped_at_the_limit),
        harness_case(bombs__are_stopped_at_the_limit_of_a_paused_reader),
        harness_case(bombs__collected_in_memory_use_little_memory),
        harness_case(bombs__with_more_codings_than_allowed_are_not_decoded),
        harness_case(bombs__leave_no_file_and_never_write_more_than_the_limit),
        harness_case(bombs__do_not_delay_a_cancel),
    };
    return cmocka_run_group_tests(cases, make_bombs, free_bombs);
}
