/// The decoder of HPACK: the examples of RFC 7541, appendix C, the limits of the table, and malformed blocks.
#include "harness.h"
#include "http/hpack.h"
#include "torture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct fields {
    char text[8192]; // "name=value;"
    size_t length;
    size_t count;
} fields;

static void take(void *ctx, nc_slice name, nc_slice value) {
    fields *out = ctx;
    out->count++;
    if (name.length + value.length + 3 < sizeof out->text - out->length) {
        int count = snprintf(out->text + out->length, sizeof out->text - out->length, "%.*s=%.*s;", (int)name.length,
                             (const char *)name.data, (int)value.length, (const char *)value.data);
        out->length += (size_t)count;
    }
}

/// Decodes hexadecimal bytes.
static nc_status decode(nc_hpack *hpack, const char *hex, fields *out) {
    uint8_t block[4096];
    size_t length = 0;
    *out = (fields){.length = 0};
    for (const char *at = hex; *at != '\0';) {
        unsigned byte = 0;
        assert_int_equal(sscanf(at, "%2x", &byte), 1);
        assert_true(length < sizeof block);
        block[length++] = (uint8_t)byte;
        at += 2;
        at += *at == ' ' ? 1 : 0;
    }
    return nc_hpack_decode(hpack, nc_slice_make(block, length), take, out);
}

static void expect(nc_hpack *hpack, const char *hex, const char *text) {
    fields seen;
    assert_status(decode(hpack, hex, &seen), NC_OK);
    assert_string_equal(seen.text, text);
}

#define C_5_1 ":status=302;cache-control=private;date=Mon, 21 Oct 2013 20:13:21 GMT;location=https://www.example.com;"
#define C_5_2 ":status=307;cache-control=private;date=Mon, 21 Oct 2013 20:13:21 GMT;location=https://www.example.com;"
#define C_5_3                                                                                                          \
    ":status=200;cache-control=private;date=Mon, 21 Oct 2013 20:13:22 GMT;location=https://www.example.com;"           \
    "content-encoding=gzip;set-cookie=foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1;"

/// C.5 has a table of 256 bytes. Its third response evicts entries of the first ones.
static void hpack__the_responses_of_appendix_c_are_decoded(void **state) {
    nc_hpack *plain = nc_hpack_new();
    nc_hpack *coded = nc_hpack_new();
    (void)state;
    expect(plain,
           "3fe101 4803333032 580770726976617465 611d4d6f6e2c203231204f63742032303133 2032303a31333a323120474d54"
           "6e1768747470733a2f2f7777772e6578616d706c652e636f6d",
           C_5_1);
    expect(plain, "4803333037 c1 c0 bf", C_5_2);
    expect(plain,
           "88 c1 611d4d6f6e2c203231204f6374203230313320 32303a31333a323220474d54 c0 5a04677a6970"
           "7738666f6f3d4153444a4b48514b425a584f5157454f50495541585157454f49553b206d61782d6167653d333630303b2076657273"
           "696f6e3d31",
           C_5_3);
    expect(
        coded,
        "3fe101 "
        "488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3",
        C_5_1);
    expect(coded, "4883640effc1c0bf", C_5_2);
    expect(
        coded,
        "88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af2708"
        "7f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007",
        C_5_3);
    nc_hpack_free(plain);
    nc_hpack_free(coded);
}

static void hpack__the_representations_of_appendix_c_are_decoded(void **state) {
    nc_hpack *hpack = nc_hpack_new();
    (void)state;
    expect(hpack, "400a637573746f6d2d6b65790d637573746f6d2d686561646572", "custom-key=custom-header;");
    expect(hpack, "be", "custom-key=custom-header;"); // it was inserted
    expect(hpack, "040c2f73616d706c652f70617468", ":path=/sample/path;");
    expect(hpack, "100870617373776f726406736563726574", "password=secret;");
    expect(hpack, "82", ":method=GET;");
    expect(hpack, "be", "custom-key=custom-header;"); // the others were not
    expect(hpack, "20 3fe11f", "");                   // the table is emptied, and has its size again
    fields none;
    assert_status(decode(hpack, "be", &none), NC_ERR_BAD_RESPONSE);
    nc_hpack_free(hpack);
}

static void take_all_bytes(void *ctx, nc_slice name, nc_slice value) {
    assert_int_equal(name.length, 1);
    assert_int_equal(value.length, 256);
    for (size_t i = 0; i < value.length; i++) {
        assert_int_equal(value.data[i], i);
    }
    *(bool *)ctx = true;
}

/// RFC 7541, appendix B.
static void hpack__each_byte_is_decoded_from_its_huffman_code(void **state) {
    static const char all[] =
        "000161ffc803ffc7fffd8fffffe2fffffe3fffffe4fffffe5fffffe6fffffe7fffffe8ffffeafffffff3fffffa7fffffabffffff"
        "dfffffebfffffecfffffedfffffeefffffefffffff0ffffff1ffffff2fffffffbfffffcffffffd3fffffd7fffffdbfffffdfffff"
        "fe3fffffe7fffffebfffffed4fe3f9ffaffcabf1febfafefe7fdfd2cbb00089969b71d79fb9f7fff20ffbff3ff50ddbd7f061c58"
        "f265cd9f469d5af66dddbf871e5f9cff7ff7fffc3ff9ffe45fff4719242cb34e6e9d68a6a3d7dac426defe3cfaf7fffbfe7ffbff"
        "dffffffcfffe6ffff4bfff9ffffa3fffd3ffff53fffd5ffffb3fffeb7fffdaffffb7ffff73fffeeffffdeffffebffffbfffffd9f"
        "fffdbfffebffffe0ffffeeffffc3ffff8bffff1ffffe4fffee7fffb1ffff97fffd9ffffcdffff9fffffbffffdafffeeffff4ffff"
        "b7fffee7fffe8ffffd3fffdeffffd5fffeeffffbdffffe1fffdfffff7fffff5ffffecffff07fff87fffe0ffff17fffedffff87ff"
        "ff77fffeffffeaffff8bfffe3ffff93ffff87fffcbffff37ffff1fffff83ffffe1fffebfffe3ffff3fffff2ffffa3ffffd9fffff"
        "17ffffc7fffff27ffffdefffffbffffff2fffff8fffffb7fff97fff8fffffe6fffffc1fffff87ffffe7fffffc5ffffe5fffe4fff"
        "f2fffffd1fffff4ffffffefffffe3fffffc9fffff97fffb3ffffcffffb7fffcdffff4ffff9ffffd1ffffcffffeaffffafffffddf"
        "fffeffffff4fffff5fffffabffffa7ffffd7fffff9bffffecfffffb7fffff3fffffe8fffffd3fffffabfffff5fffffff7ffffecf"
        "ffffdbfffffbbfffff7ffffff0fffffbbf";
    nc_hpack *hpack = nc_hpack_new();
    uint8_t block[sizeof all / 2];
    bool is_taken = false;
    (void)state;
    for (size_t i = 0; i < sizeof block; i++) {
        unsigned byte = 0;
        assert_int_equal(sscanf(all + 2 * i, "%2x", &byte), 1);
        block[i] = (uint8_t)byte;
    }
    assert_status(nc_hpack_decode(hpack, nc_slice_make(block, sizeof block), take_all_bytes, &is_taken), NC_OK);
    assert_true(is_taken);
    nc_hpack_free(hpack);
}

static void hpack__a_huffman_string_of_each_length_ends_with_padding_of_ones(void **state) {
    (void)state;
    for (size_t length = 0; length <= 40; length++) { // of "0", whose code is 00000
        size_t bytes = (length * 5 + 7) / 8;
        unsigned padding = (1u << (bytes * 8 - length * 5)) - 1;
        uint8_t block[] = {0x00, 0x01, 'a', (uint8_t)(0x80 | bytes), [4 + 25] = 0};
        char text[64] = "a=";
        nc_hpack *hpack = nc_hpack_new();
        fields seen = {.text = ""};
        if (bytes > 0) {
            block[3 + bytes] = (uint8_t)padding;
        }
        assert_status(nc_hpack_decode(hpack, nc_slice_make(block, 4 + bytes), take, &seen), NC_OK);
        memset(text + 2, '0', length);
        memcpy(text + 2 + length, ";", 2);
        assert_string_equal(seen.text, text);
        if (padding > 0) {
            block[3 + bytes] = (uint8_t)(padding - 1);
            assert_status(nc_hpack_decode(hpack, nc_slice_make(block, 4 + bytes), take, &seen), NC_ERR_BAD_RESPONSE);
        }
        nc_hpack_free(hpack);
    }
}

static void hpack__a_malformed_block_is_an_error(void **state) {
    static const struct {
        const char *name;
        const char *block;
    } rows[] = {
        {"index 0", "80"},
        {"an index beyond the table", "be"},
        {"an index of a large number", "ffffffff7f"},
        {"a number without an end", "ff808080808080"},
        {"a number that is cut", "ff"},
        {"a name that is cut", "00 0361"},
        {"a value that is missing", "00 0161"},
        {"a value that is cut", "00 0161 0262"},
        {"a table of more than 4,096 bytes", "3fe21f"},
        {"a change of the size behind a field", "82 20"},
        {"the end of string inside a string", "00 0161 84 ffffffff"},
        {"padding with a zero", "00 0161 81 18"},
        {"padding of more than 7 bits", "00 0161 82 1fff"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        nc_hpack *hpack = nc_hpack_new();
        fields seen;
        nc_status status = decode(hpack, rows[i].block, &seen);
        if (status != NC_ERR_BAD_RESPONSE) {
            fail_msg("%s: %s", rows[i].name, nc_status_name(status));
        }
        nc_hpack_free(hpack);
    }
}

/// The same field may evict the entry whose name it uses (RFC 7541, section 4.4).
static void hpack__an_entry_may_reuse_the_name_of_one_that_it_evicts(void **state) {
    nc_hpack *hpack = nc_hpack_new();
    (void)state;
    expect(hpack, "3f0b 4004 6e616d65 02 7631", "name=v1;"); // 38 bytes in a table of 42
    expect(hpack, "7e 06 616263646566", "name=abcdef;");
    expect(hpack, "be", "name=abcdef;");
    expect(hpack, "7e 07 61626364656667", "name=abcdefg;"); // 43 bytes: it empties the table
    fields none;
    assert_status(decode(hpack, "be", &none), NC_ERR_BAD_RESPONSE);
    nc_hpack_free(hpack);
}

/// Two bytes may represent 4 KiB.
static void hpack__an_endlessly_expanding_block_is_too_large(void **state) {
    nc_hpack *hpack = nc_hpack_new();
    uint8_t block[4096];
    fields seen = {.length = 0};
    (void)state;
    memset(block, 'v', sizeof block);
    memcpy(block, "\x40\x01n\x7f\xc1\x1e", 6); // a value of 127 + 65 + 30 * 128 = 4,032 bytes
    assert_status(nc_hpack_decode(hpack, nc_slice_make(block, 6 + 4032), take, &seen), NC_OK);
    memset(block, 0xbe, sizeof block);
    assert_status(nc_hpack_decode(hpack, nc_slice_make(block, 30), take, &seen), NC_OK);
    assert_status(nc_hpack_decode(hpack, nc_slice_make(block, sizeof block), take, &seen), NC_ERR_TOO_LARGE);
    nc_hpack_free(hpack);
}

/// The same fields after any inserts and evictions. A model keeps the names and values as a list.
static void hpack__the_table_holds_the_newest_entries(void **state) {
    nc_hpack *hpack = nc_hpack_new();
    uint64_t chance = 7541;
    size_t lengths[2000];
    (void)state;
    for (size_t i = 0; i < 2000; i++) {
        uint8_t block[128];
        char number[16];
        size_t held = 0;
        size_t total = 0;
        fields seen = {.length = 0};
        size_t name_length = (size_t)snprintf(number, sizeof number, "%zu", i);
        lengths[i] = torture_next(&chance) % 100;
        block[0] = 0x40;
        block[1] = (uint8_t)name_length;
        memcpy(block + 2, number, name_length);
        block[2 + name_length] = (uint8_t)lengths[i];
        memset(block + 3 + name_length, 'v', lengths[i]);
        assert_status(nc_hpack_decode(hpack, nc_slice_make(block, 3 + name_length + lengths[i]), take, &seen), NC_OK);
        for (size_t k = i + 1; k-- > 0;) {
            total += (size_t)snprintf(NULL, 0, "%zu", k) + lengths[k] + 32;
            held += total <= 4096 ? 1 : 0;
        }
        block[0] = (uint8_t)(0x80 | (61 + held));
        size_t length = 1;
        if (61 + held >= 127) {
            block[0] = 0xff;
            block[1] = (uint8_t)(61 + held - 127);
            length = 2;
        }
        seen = (fields){.length = 0};
        assert_status(nc_hpack_decode(hpack, nc_slice_make(block, length), take, &seen), NC_OK);
        assert_int_equal(strtoul(seen.text, NULL, 10), i + 1 - held);
    }
    nc_hpack_free(hpack);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(hpack__the_responses_of_appendix_c_are_decoded),
        harness_case(hpack__the_representations_of_appendix_c_are_decoded),
        harness_case(hpack__each_byte_is_decoded_from_its_huffman_code),
        harness_case(hpack__a_huffman_string_of_each_length_ends_with_padding_of_ones),
        harness_case(hpack__a_malformed_block_is_an_error),
        harness_case(hpack__an_entry_may_reuse_the_name_of_one_that_it_evicts),
        harness_case(hpack__an_endlessly_expanding_block_is_too_large),
        harness_case(hpack__the_table_holds_the_newest_entries),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
