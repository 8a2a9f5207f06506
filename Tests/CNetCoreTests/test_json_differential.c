/// Random documents: this parser and Python's json must agree on each. script/torture json runs millions.
#include "json_random.h"
#include "torture.h"
#include "json/scanner.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 2000, MAX_DEPTH = 400 };

/// Reads batches: a number of documents, then each with its length. Writes a byte for each.
static const char evaluate[] =
    "import json, struct, sys\n"
    "def refuse(name): raise ValueError(name)\n"
    "def is_json(b):\n"
    "    try: json.loads(b.decode('utf-8', 'strict'), parse_constant=refuse, parse_int=str, parse_float=str)\n"
    "    except ValueError: return 0\n"
    "    return 1\n"
    "read, out = sys.stdin.buffer.read, sys.stdout.buffer\n"
    "while True:\n"
    "    head = read(8)\n"
    "    if len(head) < 8: break\n"
    "    count, length = struct.unpack('=II', head)\n"
    "    batch, at, answers = read(length), 0, bytearray()\n"
    "    for i in range(count):\n"
    "        size = struct.unpack_from('=I', batch, at)[0]\n"
    "        answers.append(is_json(batch[at + 4:at + 4 + size]))\n"
    "        at += 4 + size\n"
    "    out.write(answers)\n"
    "    out.flush()\n";

typedef struct python {
    pid_t process;
    int to;
    int from;
} python;

static void python_start(python *parser) {
    int to[2];
    int from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    parser->process = fork();
    assert_true(parser->process >= 0);
    if (parser->process == 0) {
        (void)dup2(to[0], 0);
        (void)dup2(from[1], 1);
        (void)close(to[1]);
        (void)close(from[0]);
        (void)execlp("python3", "python3", "-c", evaluate, (char *)NULL);
        _exit(127);
    }
    (void)close(to[0]);
    (void)close(from[1]);
    parser->to = to[1];
    parser->from = from[0];
}

static void python_stop(python *parser) {
    int status = -1;
    (void)close(parser->to);
    (void)close(parser->from);
    assert_int_equal(waitpid(parser->process, &status, 0), parser->process);
    assert_int_equal(status, 0);
}

static void send_all(int fd, const void *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        ssize_t sent = write(fd, (const uint8_t *)bytes + at, length - at);
        assert_true(sent > 0);
        at += (size_t)sent;
    }
}

static void receive_all(int fd, uint8_t *bytes, size_t length) {
    for (size_t at = 0; at < length;) {
        ssize_t got = read(fd, bytes + at, length - at);
        assert_true(got > 0);
        at += (size_t)got;
    }
}

/// Validates in one piece or in several; returns 2 for an exceeded depth, which Python does not limit.
static uint8_t validate(nc_slice text, uint64_t number) {
    nc_json_options options = {.max_depth = MAX_DEPTH, .allows_lone_surrogates = true};
    nc_json_failure failure;
    nc_status status = NC_OK;
    if (number % 4 != 0) {
        status = nc_json_check(text, &options, &failure, NULL);
    } else {
        nc_json *json = NULL;
        size_t step = number / 4 % 130 + 1;
        assert_status(nc_json_new(&json, &options, NULL), NC_OK);
        for (size_t at = 0; at < text.length && status == NC_OK; at += step) {
            size_t left = text.length - at;
            status = nc_json_feed(json, nc_slice_make(text.data + at, left < step ? left : step), NULL);
        }
        status = status == NC_OK ? nc_json_finish(json, NULL) : status;
        failure = *nc_json_failure_of(json);
        nc_json_free(json);
    }
    return failure.fault == NC_JSON_FAULT_DEPTH ? 2 : status == NC_OK;
}

/// The block scanner changes from batch to batch.
static void choose_way(uint64_t batch) {
    const nc_block_scanner *scanner = &nc_block_scanners[batch % nc_block_scanner_count];
    nc_block_scanner_select(scanner->is_supported() ? scanner : NULL);
}

static void show(nc_slice text, uint8_t ours, uint8_t theirs) {
    for (size_t i = 0; i < text.length; i++) {
        print_error(text.data[i] >= 0x20 && text.data[i] < 0x7F && text.data[i] != '\\' ? "%c" : "\\x%02x",
                    text.data[i]);
    }
    print_error("\n");
    fail_msg("this parser returns %d, Python's %d", ours, theirs);
}

static void json__agrees_with_python(void **state) {
    (void)state;
    uint64_t documents = torture_number("NETCORE_TORTURE_DOCUMENTS", 20000);
    uint64_t seed = torture_seed();
    uint64_t right = 0;
    python parser;
    nc_buf batch = nc_buf_init((size_t)BATCH * (2 * JSON_RANDOM_MAX_BYTES));
    nc_buf text = nc_buf_init(2 * JSON_RANDOM_MAX_BYTES);
    static uint8_t ours[BATCH];
    static uint8_t theirs[BATCH];
    python_start(&parser);
    for (uint64_t done = 0; done < documents; done += BATCH) {
        nc_buf_reset(&batch);
        choose_way(done / BATCH);
        for (uint32_t i = 0; i < BATCH; i++) {
            json_random(&text, &seed);
            uint32_t length = (uint32_t)text.length;
            nc_buf_append(&batch, nc_slice_make(&length, sizeof length));
            nc_buf_append(&batch, nc_buf_slice(&text));
            ours[i] = validate(nc_buf_slice(&text), done + i);
        }
        assert_status(nc_buf_status(&batch), NC_OK);
        uint32_t head[2] = {BATCH, (uint32_t)batch.length};
        send_all(parser.to, head, sizeof head);
        send_all(parser.to, batch.data, batch.length);
        receive_all(parser.from, theirs, BATCH);
        for (size_t i = 0, at = 0; i < BATCH; i++) {
            uint32_t length;
            memcpy(&length, batch.data + at, sizeof length);
            if (ours[i] != theirs[i] && ours[i] != 2) {
                show(nc_slice_make(batch.data + at + sizeof length, length), ours[i], theirs[i]);
            }
            at += sizeof length + length;
            right += ours[i] == 1;
        }
    }
    python_stop(&parser);
    nc_block_scanner_select(NULL);
    print_message("%" PRIu64 " documents, %" PRIu64 " of them right\n", documents, right);
    assert_true(right > documents / 4 && right < documents);
    nc_buf_deinit(&batch);
    nc_buf_deinit(&text);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {harness_case(json__agrees_with_python)};
    return cmocka_run_group_tests(cases, NULL, NULL);
}
