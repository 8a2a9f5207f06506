#include "harness.h"
#include "torture.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_size_t openssl_allocations;

static void *count_malloc(size_t bytes, const char *file, int line) {
    (void)file;
    (void)line;
    atomic_fetch_add(&openssl_allocations, 1);
    return malloc(bytes);
}

static void *count_realloc(void *block, size_t bytes, const char *file, int line) {
    (void)file;
    (void)line;
    atomic_fetch_add(&openssl_allocations, 1);
    return realloc(block, bytes);
}

static void plain_free(void *block, const char *file, int line) {
    (void)file;
    (void)line;
    free(block);
}

/// The examples of RFC 1321, A.5, and FIPS 180-4.
static const struct {
    const char *text;
    const char *md5;
    const char *sha256;
    const char *sha512_256;
} known[] = {
    {"", "d41d8cd98f00b204e9800998ecf8427e", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
     "c672b8d1ef56ed28ab87c3622c5114069bdd3ad7b8f9737498d0c01ecef0967a"},
    {"abc", "900150983cd24fb0d6963f7d28e17f72", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
     "53048e2681941ef99b2e29b76b4c7dabe4c2d0c634fc6d46e0e2f13107e7af23"},
    {"message digest", "f96b697d7cb7938d525a2f31aaf161d0",
     "f7846f55cf23e14eebeab5b4e1550cad5b509e3348fbc4efa3a1413d393cb650",
     "0cf471fd17ed69d990daf3433c89b16d63dec1bb9cb42a6094604ee5d7b4e9fb"},
    {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", "8215ef0796a20bcaaae116d3876c664a",
     "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
     "bde8e1f9f19bb9fd3406c90ec6bc47bd36d8ada9f11880dbc8a22a7078b6a461"},
};

static const char *expected_of(size_t i, nc_digest_kind kind) {
    return kind == NC_DIGEST_MD5 ? known[i].md5 : kind == NC_DIGEST_SHA256 ? known[i].sha256 : known[i].sha512_256;
}

static void assert_hex(const uint8_t *bytes, nc_digest_kind kind, const char *expected) {
    nc_buf text = nc_buf_init(100);
    nc_hex_encode(&text, nc_slice_make(bytes, nc_digest_bytes(kind)));
    assert_slice_equals(nc_buf_slice(&text), expected);
    nc_buf_deinit(&text);
}

static void *digest_abc(void *result) {
    nc_digest *digest = NULL;
    if (nc_digest_new(&digest, NC_DIGEST_MD5, NULL) == NC_OK) {
        nc_status status = nc_digest_of(result, digest, nc_slice_of("abc"), NULL);
        (void)status; // the caller checks the result
    }
    nc_digest_free(digest);
    return NULL;
}

/// Must be the first case, before the process has fetched any digest.
static void digest__many_threads_fetch_an_algorithm_concurrently(void **state) {
    (void)state;
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    uint8_t results[THREADS][NC_DIGEST_MAX_BYTES] = {{0}};
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, digest_abc, results[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_hex(results[i], NC_DIGEST_MD5, known[1].md5);
    }
}

static void digest__agrees_with_published_values(void **state) {
    (void)state;
    for (nc_digest_kind kind = NC_DIGEST_MD5; kind <= NC_DIGEST_SHA512_256; kind++) {
        nc_digest *digest = NULL;
        assert_status(nc_digest_new(&digest, kind, NULL), NC_OK);
        assert_int_equal(nc_digest_kind_of(digest), kind);
        for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
            uint8_t bytes[NC_DIGEST_MAX_BYTES];
            guarded text = guarded_copy(nc_slice_of(known[i].text));
            assert_status(nc_digest_of(bytes, digest, text.slice, NULL), NC_OK);
            assert_hex(bytes, kind, expected_of(i, kind));
            guarded_deinit(&text);
        }
        nc_digest_free(digest);
    }
}

static void check_split(void *ctx, nc_slice head, nc_slice tail) {
    nc_digest *digest = ctx;
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    nc_digest_update(digest, head);
    nc_digest_update(digest, tail);
    assert_status(nc_digest_finish(bytes, digest, NULL), NC_OK);
    assert_hex(bytes, nc_digest_kind_of(digest), expected_of(3, nc_digest_kind_of(digest)));
}

static void digest__every_split_gives_the_same_digest(void **state) {
    (void)state;
    for (nc_digest_kind kind = NC_DIGEST_MD5; kind <= NC_DIGEST_SHA512_256; kind++) {
        nc_digest *digest = NULL;
        assert_status(nc_digest_new(&digest, kind, NULL), NC_OK);
        each_split(nc_slice_of(known[3].text), check_split, digest);
        nc_digest_free(digest);
    }
}

static void digest__reset_discards_the_input(void **state) {
    (void)state;
    nc_digest *digest = NULL;
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    assert_status(nc_digest_new(&digest, NC_DIGEST_MD5, NULL), NC_OK);
    nc_digest_update(digest, nc_slice_of("x"));
    nc_digest_reset(digest);
    nc_digest_update(digest, nc_slice_of("abc"));
    assert_status(nc_digest_finish(bytes, digest, NULL), NC_OK);
    assert_hex(bytes, NC_DIGEST_MD5, known[1].md5);
    nc_digest_update(digest, nc_slice_of("x"));
    assert_status(nc_digest_of(bytes, digest, nc_slice_of("abc"), NULL), NC_OK);
    assert_hex(bytes, NC_DIGEST_MD5, known[1].md5);
    nc_digest_free(digest);
}

static void digest__updates_allocate_nothing(void **state) {
    (void)state;
    nc_digest *digest = NULL;
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    assert_status(nc_digest_new(&digest, NC_DIGEST_MD5, NULL), NC_OK);
    size_t openssl = atomic_load(&openssl_allocations);
    uint64_t ours = harness_allocations();
    assert_true(openssl > 0);
    for (int i = 0; i < 100; i++) {
        assert_status(nc_digest_of(bytes, digest, nc_slice_of("abc"), NULL), NC_OK);
    }
    // OpenSSL 3.0 allocates MD5's state for each digest; later versions need not.
    assert_true(atomic_load(&openssl_allocations) - openssl <= 100);
    assert_int_equal(harness_allocations(), ours);
    nc_digest_free(digest);
}

static void digest__an_unknown_algorithm_is_rejected(void **state) {
    (void)state;
    nc_digest *digest = NULL;
    nc_error err;
    assert_status(nc_digest_new(&digest, (nc_digest_kind)4, &err), NC_ERR_USAGE);
    assert_null(digest);
    assert_int_equal(nc_digest_bytes((nc_digest_kind)0), 0);
    nc_digest_free(NULL);
    assert_status(nc_digest_new(&digest, NC_DIGEST_MD5, &err), NC_OK);
    uint8_t bytes[NC_DIGEST_MAX_BYTES];
    assert_status(nc_digest_of(bytes, digest, nc_slice_make(NULL, 3), &err), NC_ERR_USAGE);
    nc_digest_free(digest);
}

static void make_one(void *ctx) {
    (void)ctx;
    nc_digest *digest = NULL;
    nc_status status = nc_digest_new(&digest, NC_DIGEST_SHA256, NULL);
    assert_status(status, harness_has_failed_allocation() ? NC_ERR_NO_MEMORY : NC_OK);
    nc_digest_free(digest);
}

static void digest__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(make_one, NULL) >= 1);
}

/// Runs the program with this OpenSSL configuration, and compares its output line by line.
static void check_program(const char *configuration, const char *expected) {
    char path[] = "/tmp/netcore-openssl-XXXXXX";
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_int_equal(write(file, configuration, strlen(configuration)), (ssize_t)strlen(configuration));
    close(file);
    char command[2048];
    (void)snprintf(command, sizeof command, "OPENSSL_CONF=%s %s", path, torture_program("digest_beside_fips"));
    FILE *output = popen(command, "r");
    assert_non_null(output);
    char text[1024] = {0};
    size_t length = fread(text, 1, sizeof text - 1, output);
    assert_true(length > 0);
    assert_int_equal(pclose(output), 0);
    unlink(path);
    assert_string_equal(text, expected);
}

#define DIGESTS                                                                                                        \
    "md5 900150983cd24fb0d6963f7d28e17f72\n"                                                                           \
    "sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n"

static void digest__md5_works_with_the_default_openssl_configuration(void **state) {
    (void)state;
    check_program("openssl_conf = init\n[init]\n", "plain yes\n" DIGESTS);
}

static void digest__md5_works_with_fips_default_properties(void **state) {
    (void)state;
    check_program("openssl_conf = init\n[init]\nproviders = all\nalg_section = algorithms\n"
                  "[all]\ndefault = on\n[on]\nactivate = 1\n[algorithms]\ndefault_properties = fips=yes\n",
                  "plain no\n" DIGESTS);
}

static void digest__md5_works_without_the_default_provider(void **state) {
    (void)state;
    check_program("openssl_conf = init\n[init]\nproviders = all\nalg_section = algorithms\n"
                  "[all]\nbase = on\n[on]\nactivate = 1\n[algorithms]\ndefault_properties = fips=yes\n",
                  "plain no\n" DIGESTS);
}

int main(void) {
    // OpenSSL accepts this only before its first allocation.
    CRYPTO_set_mem_functions(count_malloc, count_realloc, plain_free);
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(digest__many_threads_fetch_an_algorithm_concurrently),
        harness_case(digest__agrees_with_published_values),
        harness_case(digest__every_split_gives_the_same_digest),
        harness_case(digest__reset_discards_the_input),
        harness_case(digest__updates_allocate_nothing),
        harness_case(digest__an_unknown_algorithm_is_rejected),
        harness_case(digest__survives_each_allocation_failure),
        harness_case(digest__md5_works_with_the_default_openssl_configuration),
        harness_case(digest__md5_works_with_fips_default_properties),
        harness_case(digest__md5_works_without_the_default_provider),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
