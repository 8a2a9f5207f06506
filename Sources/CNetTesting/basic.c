#include "basic.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

#define SCHEME "Basic "

bool nct_basic_append(nct_bytes *out, const char *user, const char *password) {
    nct_bytes plain = {0};
    nct_bytes coded = {0};
    bool is_whole = nct_bytes_append_text(&plain, user) && nct_bytes_append_text(&plain, ":") &&
                    (password == NULL || nct_bytes_append_text(&plain, password)) &&
                    nct_bytes_append(&coded, plain.data, plain.length) &&
                    nct_bytes_append(&coded, plain.data, plain.length) && nct_bytes_append(&coded, "====", 4);
    if (is_whole) {
        // The base64 text and its NUL always fit into twice the plain length plus four bytes.
        int length = EVP_EncodeBlock(coded.data, nct_bytes_first(&plain), (int)plain.length);
        is_whole = nct_bytes_append_text(out, SCHEME) && nct_bytes_append(out, coded.data, (size_t)length);
    }
    nct_bytes_deinit(&plain);
    nct_bytes_deinit(&coded);
    return is_whole;
}

bool nct_basic_is_equal(const nct_bytes *credentials, const void *value, size_t length) {
    const size_t scheme = strlen(SCHEME);
    const char *expected = (const char *)nct_bytes_first(credentials);
    const char *text = value;
    return length == credentials->length && length > scheme && strncasecmp(text, expected, scheme) == 0 &&
           memcmp(text + scheme, expected + scheme, length - scheme) == 0;
}
