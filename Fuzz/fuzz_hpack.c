/// Covers: http/hpack.c http/h2_response.c
///
/// Header blocks of one connection. The second reader is nghttp2, which libcurl has loaded. The library decodes the
/// same fields as nghttp2, and a head that the library accepts is valid for nghttp2 too.
/// Input: blocks, each with its length before it in two bytes.
#include "input.h"

#include "http/h2_response.h"
#include "http/hpack.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

/// nghttp2's own types (nghttp2.h).
typedef struct name_value {
    uint8_t *name;
    uint8_t *value;
    size_t name_length;
    size_t value_length;
    uint8_t flags;
} name_value;

enum { INFLATE_FINAL = 1, INFLATE_EMIT = 2 };

typedef struct inflater inflater;

static struct nghttp2 {
    int (*make)(inflater **out);
    void (*delete)(inflater *of);
    ssize_t (*inflate)(inflater *of, name_value *out, int *flags, const uint8_t *in, size_t length, int is_final);
    int (*end)(inflater *of);
} nghttp2;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    void *library = dlopen("libnghttp2.so.14", RTLD_NOW);
    if (library != NULL) {
        *(void **)&nghttp2.make = dlsym(library, "nghttp2_hd_inflate_new");
        *(void **)&nghttp2.delete = dlsym(library, "nghttp2_hd_inflate_del");
        *(void **)&nghttp2.inflate = dlsym(library, "nghttp2_hd_inflate_hd2");
        *(void **)&nghttp2.end = dlsym(library, "nghttp2_hd_inflate_end_headers");
    }
    return 0;
}

/// The fields of a block, each with its lengths before it.
typedef struct fields {
    nc_buf text;
} fields;

static void take(void *ctx, nc_slice name, nc_slice value) {
    fields *out = ctx;
    size_t lengths[2] = {name.length, value.length};
    nc_buf_append(&out->text, nc_slice_make(lengths, sizeof lengths));
    nc_buf_append(&out->text, name);
    nc_buf_append(&out->text, value);
}

/// Decodes a block with nghttp2. Returns false for an error.
static bool inflate(inflater *of, nc_slice block, fields *out) {
    const uint8_t *at = block.data;
    const uint8_t *end = block.data + block.length;
    while (true) {
        name_value one;
        int flags = 0;
        ssize_t count = nghttp2.inflate(of, &one, &flags, at, (size_t)(end - at), 1);
        if (count < 0) {
            return false;
        }
        at += count;
        if ((flags & INFLATE_EMIT) != 0) {
            take(out, nc_slice_make(one.name, one.name_length), nc_slice_make(one.value, one.value_length));
        }
        if ((flags & INFLATE_FINAL) != 0) {
            return nghttp2.end(of) == 0;
        }
        if ((flags & INFLATE_EMIT) == 0 && at == end) {
            return false;
        }
    }
}

/// A valid head is a status line, field lines and an empty line.
static void check_head(const nc_h2_head *head) {
    nc_slice lines = nc_buf_slice(&head->lines);
    if (head->status == 0) {
        CHECK(head->quirk == NULL);
        return;
    }
    CHECK(lines.length >= 15 && memcmp(lines.data, "HTTP/2 ", 7) == 0);
    CHECK(memcmp(lines.data + lines.length - 4, "\r\n\r\n", 4) == 0);
    CHECK(head->status == (lines.data[7] - '0') * 100 + (lines.data[8] - '0') * 10 + (lines.data[9] - '0'));
    uint32_t count = 0;
    for (size_t i = 0; i < lines.length; i++) {
        CHECK((lines.data[i] == '\r') == (i + 1 < lines.length && lines.data[i + 1] == '\n'));
        count += lines.data[i] == '\n' ? 1 : 0;
    }
    CHECK(count == head->fields + 1);
}

static nc_h2_response *collect(nc_h2_response *answer, const nc_h2_head *head) {
    if (answer != NULL) {
        nc_h2_response_take_head(answer, head);
    } else if (head->quirk != NULL) {
        answer = nc_h2_response_new(head);
    }
    uint8_t *position = answer != NULL ? nc_h2_response_take_content(answer, head->fields) : NULL;
    if (position != NULL) {
        memset(position, 'x', head->fields);
    }
    return answer;
}

/// Returns the next block, in memory of exactly its length.
static nc_slice next_block(input *in) {
    size_t length = input_number(in);
    length = length < in->left.length ? length : in->left.length;
    uint8_t *copy = malloc(length > 0 ? length : 1);
    CHECK(copy != NULL);
    memcpy(copy, in->left.data, length);
    in->left = nc_slice_make(in->left.data + length, in->left.length - length);
    return nc_slice_make(copy, length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_hpack *hpack = nc_hpack_new();
    nc_hpack *second = nc_hpack_new();
    nc_h2_head head = nc_h2_head_init();
    nc_h2_response *answer = NULL;
    inflater *reader = NULL;
    nc_status status = NC_OK;
    CHECK(nghttp2.make == NULL || nghttp2.make(&reader) == 0);
    while (status == NC_OK && in.left.length > 0) {
        fields ours = {nc_buf_init(SIZE_MAX)};
        fields theirs = {nc_buf_init(SIZE_MAX)};
        nc_slice block = next_block(&in);
        status = nc_hpack_decode(hpack, block, take, &ours);
        CHECK(nc_h2_head_read(&head, second, block) == status);
        check_head(&head);
        answer = collect(answer, &head);
        bool is_good = reader != NULL && inflate(reader, block, &theirs);
        if (status != NC_ERR_TOO_LARGE && reader != NULL) {
            CHECK(is_good == (status == NC_OK));
            CHECK(!is_good || nc_slice_is_equal(nc_buf_slice(&ours.text), nc_buf_slice(&theirs.text)));
        }
        nc_buf_deinit(&ours.text);
        nc_buf_deinit(&theirs.text);
        free((void *)(uintptr_t)block.data);
    }
    if (reader != NULL) {
        nghttp2.delete(reader);
    }
    nc_h2_response_free(answer);
    nc_h2_head_deinit(&head);
    nc_hpack_free(hpack);
    nc_hpack_free(second);
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
