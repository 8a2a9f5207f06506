/// Covers: trust/pin.c
///
/// A pin's text is compared with OpenSSL's base64 decoder and a simple hex decoder. If the text is accepted, it encodes
/// exactly the returned digest. If it is rejected, the digest is unchanged. Input: the text.
#include "input.h"

#include "trust/pin.h"

#include <openssl/evp.h>
#include <string.h>

/// Decodes the digest of a text independently. Returns false if it has none.
static bool read_again(uint8_t out[NC_PIN_DIGEST_BYTES], nc_slice text) {
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t decoded[48];
    char again[48];
    if (text.length == 64) {
        for (size_t i = 0; i < 64; i++) {
            const char *at = text.data[i] == 0 ? NULL : strchr("0123456789abcdef0123456789ABCDEF", text.data[i]);
            if (at == NULL) {
                return false;
            }
            size_t value = (size_t)(at - "0123456789abcdef0123456789ABCDEF") & 15;
            out[i / 2] = (uint8_t)(i % 2 == 0 ? value << 4 : out[i / 2] | value);
        }
        return true;
    }
    size_t prefix = text.length == 51 ? 7 : text.length == 52 ? 8 : 0;
    if (prefix == 0 || memcmp(text.data, "sha256//", prefix) != 0) {
        return false;
    }
    for (size_t i = prefix; i < text.length - 1; i++) {
        if (text.data[i] == 0 || strchr(alphabet, text.data[i]) == NULL) {
            return false;
        }
    }
    if (text.data[text.length - 1] != '=' || EVP_DecodeBlock(decoded, text.data + prefix, 44) != 33) {
        return false;
    }
    // Each digest has one spelling, so encoding it gives the same text.
    (void)EVP_EncodeBlock((unsigned char *)again, decoded, NC_PIN_DIGEST_BYTES);
    memcpy(out, decoded, NC_PIN_DIGEST_BYTES);
    return memcmp(again, text.data + prefix, 44) == 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_slice text = input_rest(&in);
    uint8_t digest[NC_PIN_DIGEST_BYTES];
    uint8_t expected[NC_PIN_DIGEST_BYTES] = {0};
    uint8_t untouched[NC_PIN_DIGEST_BYTES];
    nc_error err;
    memset(digest, 0xA5, sizeof digest);
    memset(untouched, 0xA5, sizeof untouched);
    nc_status status = nc_pin_parse(digest, text, &err);
    CHECK((status == NC_OK) == read_again(expected, text));
    if (status == NC_OK) {
        char written[NC_PIN_TEXT_BYTES];
        uint8_t again[NC_PIN_DIGEST_BYTES];
        CHECK(memcmp(digest, expected, sizeof digest) == 0);
        nc_pin_format(written, digest);
        CHECK(strlen(written) == NC_PIN_TEXT_BYTES - 1);
        CHECK(nc_pin_parse(again, nc_slice_of(written), NULL) == NC_OK);
        CHECK(memcmp(digest, again, sizeof digest) == 0);
    } else {
        CHECK(status == NC_ERR_BAD_PIN);
        CHECK(memcmp(digest, untouched, sizeof digest) == 0);
        check_error(&err, status, size);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
