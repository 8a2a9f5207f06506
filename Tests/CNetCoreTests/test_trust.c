/// Policies as values: rejected options, and the equality of policies.
#include "harness.h"
#include "trust/identity.h"
#include "trust/policy.h"

#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static nc_trust *make(nc_trust_options options) {
    nc_trust *trust = NULL;
    nc_error err;
    assert_status(nc_trust_new(&trust, &options, &err), NC_OK);
    assert_status(err.status, NC_OK);
    return trust;
}

static void trust__policies_with_the_same_decisions_are_equal(void **state) {
    const nc_trust_options options[] = {
        {0},
        {.accepts_anything = true},
        {.min_version = NC_TLS_1_3},
        {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/a")},
        {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/b")},
        {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/a"), .min_version = NC_TLS_1_3},
        {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of("/a")},
        {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of("/a/")},
        {.identity_file = nc_slice_of("/a")},
        {.identity_file = nc_slice_of("/a"), .accepts_anything = true},
        {.identity_file = nc_slice_of("/b")},
        {.identity_file = nc_slice_of("/a"), .identity_key_file = nc_slice_of("/a")},
        {.identity_file = nc_slice_of("/a"), .identity_password = nc_slice_of("one")},
        {.identity_file = nc_slice_of("/a"), .identity_password = nc_slice_of("two")},
        {.identity_pem = nc_slice_of("/a")},
        {.identity_pem = nc_slice_of("/a"), .identity_key_pem = nc_slice_of("/b")},
        {.identity_pem = nc_slice_of("/a"), .identity_key_pem = nc_slice_of("/c")},
        {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of("/a"), .identity_pem = nc_slice_of("/a")},
    };
    enum { COUNT = sizeof options / sizeof *options };
    (void)state;
    for (size_t i = 0; i < COUNT; i++) {
        nc_trust *one = make(options[i]);
        assert_true(nc_trust_is_equal(one, one));
        for (size_t k = 0; k < COUNT; k++) {
            nc_trust *other = make(options[k]);
            assert_int_equal(nc_trust_is_equal(one, other), i == k);
            assert_int_equal(nc_trust_is_equal(other, one), i == k);
            nc_trust_release(other);
        }
        nc_trust_release(one);
    }
    nc_trust *defaults = NULL;
    assert_status(nc_trust_new(&defaults, NULL, NULL), NC_OK);
    nc_trust *zero = make(options[0]);
    assert_true(nc_trust_is_equal(defaults, zero));
    nc_trust_release(defaults);
    nc_trust_release(zero);
    nc_trust_release(NULL);
}

static void trust__copies_its_options(void **state) {
    char path[] = "/some/path";
    (void)state;
    guarded pem = guarded_copy(nc_slice_of("some bytes"));
    nc_trust *by_file = make((nc_trust_options){.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of(path)});
    nc_trust *by_bytes = make((nc_trust_options){.roots = NC_ROOTS_BYTES, .ca_pem = pem.slice});
    guarded_deinit(&pem);
    memset(path, 'x', sizeof path);
    nc_trust *same_file = make((nc_trust_options){.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/some/path")});
    nc_trust *same_bytes = make((nc_trust_options){.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of("some bytes")});
    assert_true(nc_trust_is_equal(by_file, same_file));
    assert_true(nc_trust_is_equal(by_bytes, same_bytes));
    assert_ptr_equal(nc_trust_retain(by_file), by_file);
    nc_trust_release(by_file);
    assert_true(nc_trust_is_equal(by_file, same_file));
    nc_trust_release(by_file);
    nc_trust_release(by_bytes);
    nc_trust_release(same_file);
    nc_trust_release(same_bytes);
}

static void trust__copies_its_identity(void **state) {
    guarded path = guarded_copy(nc_slice_of("/certificate"));
    guarded key_path = guarded_copy(nc_slice_of("/key"));
    guarded password = guarded_copy(nc_slice_of("secret"));
    (void)state;
    nc_trust *trust = make((nc_trust_options){
        .identity_file = path.slice, .identity_key_file = key_path.slice, .identity_password = password.slice});
    guarded_deinit(&path);
    guarded_deinit(&key_path);
    guarded_deinit(&password);
    // Paths are passed to open(2).
    assert_string_equal((const char *)trust->options.identity_file.data, "/certificate");
    assert_string_equal((const char *)trust->options.identity_key_file.data, "/key");
    assert_slice_equals(trust->options.identity_password, "secret");
    nc_trust_release(trust);
}

static void trust__a_copy_without_identity_is_otherwise_equal(void **state) {
    const nc_trust_options plain = {.roots = NC_ROOTS_BYTES,
                                    .ca_pem = nc_slice_of("authorities"),
                                    .min_version = NC_TLS_1_3,
                                    .accepts_anything = true};
    nc_trust_options named = plain;
    (void)state;
    named.identity_pem = nc_slice_of("certificate");
    named.identity_password = nc_slice_of("secret");
    nc_trust *with = make(named);
    nc_trust *expected = make(plain);
    nc_trust *without = nc_trust_without_identity(with);
    assert_true(nc_trust_has_identity(with));
    assert_false(nc_trust_has_identity(without));
    assert_false(nc_trust_is_equal(with, without));
    assert_true(nc_trust_is_equal(without, expected));
    // The identity outlives the policy that it was taken from.
    nc_trust_release(with);
    assert_slice_equals(without->options.ca_pem, "authorities");
    nc_trust *again = nc_trust_without_identity(without);
    assert_ptr_equal(again, without);
    nc_trust_release(again);
    nc_trust_release(without);
    nc_trust_release(expected);
}

static void trust__rejects_contradictory_options(void **state) {
    static char text[NC_TRUST_MAX_PEM_BYTES + 1];
    const nc_trust_options cases[] = {
        {.roots = (nc_roots)9},
        {.min_version = (nc_tls_version)9},
        {.roots = NC_ROOTS_FILE},
        {.roots = NC_ROOTS_BYTES},
        {.ca_file = nc_slice_of("/a")},
        {.ca_pem = nc_slice_of("pem")},
        {.roots = NC_ROOTS_FILE, .ca_pem = nc_slice_of("pem")},
        {.roots = NC_ROOTS_BYTES, .ca_file = nc_slice_of("/a")},
        {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_of("/a"), .ca_pem = nc_slice_of("pem")},
        {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_make("/a\0b", 4)},
        {.roots = NC_ROOTS_FILE, .ca_file = nc_slice_make(memset(text, 'a', sizeof text), 4096)},
        {.roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_make(text, sizeof text)},
        {.identity_file = nc_slice_of("/a"), .identity_pem = nc_slice_of("pem")},
        {.identity_key_file = nc_slice_of("/a")},
        {.identity_key_pem = nc_slice_of("pem")},
        {.identity_password = nc_slice_of("secret")},
        {.identity_pem = nc_slice_of("pem"), .identity_key_file = nc_slice_of("/a")},
        {.identity_file = nc_slice_of("/a"), .identity_key_pem = nc_slice_of("pem")},
        {.identity_file = nc_slice_make("/a\0b", 4)},
        {.identity_file = nc_slice_of("/a"), .identity_key_file = nc_slice_make("/a\0b", 4)},
        {.identity_file = nc_slice_of("/a"), .identity_password = nc_slice_make("a\0b", 3)},
        {.identity_file = nc_slice_make(text, 4096)},
        {.identity_file = nc_slice_of("/a"), .identity_key_file = nc_slice_make(text, 4096)},
        {.identity_file = nc_slice_of("/a"), .identity_password = nc_slice_make(text, 1024)},
        {.identity_pem = nc_slice_make(text, NC_IDENTITY_MAX_BYTES + 1)},
        {.identity_pem = nc_slice_of("pem"), .identity_key_pem = nc_slice_make(text, NC_IDENTITY_MAX_BYTES + 1)},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        nc_trust *trust = NULL;
        nc_error err;
        assert_status(nc_trust_new(&trust, &cases[i], &err), NC_ERR_USAGE);
        assert_status(err.status, NC_ERR_USAGE);
        assert_true(err.message[0] != '\0');
        assert_null(trust);
    }
}

/// Loads with a line on standard input and without a terminal. Returns true if the line was not read. Runs in another
/// process, because a terminal would be used first.
static bool leaves_standard_input_alone(const nc_trust *trust) {
    int ends[2];
    int waiting = 0;
    nc_error err;
    nc_root_store *roots = NULL;
    const nc_file_ops files = nc_file_ops_system();
    bool is_ready = setsid() > 0 && pipe(ends) == 0 && write(ends[1], "x\n", 2) == 2 && dup2(ends[0], 0) == 0;
    bool is_refused = is_ready && nc_trust_load_roots(&roots, trust, &files, &err) == NC_ERR_TLS_ROOTS;
    return is_refused && ioctl(0, FIONREAD, &waiting) == 0 && waiting == 2;
}

static void trust__never_prompts_for_a_pass_phrase_regression_1(void **state) {
    int code = -1;
    nc_trust *trust = make((nc_trust_options){.roots = NC_ROOTS_BYTES,
                                              .ca_pem = nc_slice_of("-----BEGIN CERTIFICATE-----\n"
                                                                    "Proc-Type: 4,ENCRYPTED\n"
                                                                    "DEK-Info: AES-128-CBC,"
                                                                    "00112233445566778899AABBCCDDEEFF\n\n"
                                                                    "AAAAAAAAAAAAAAAAAAAAAA==\n"
                                                                    "-----END CERTIFICATE-----\n")});
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        _exit(leaves_standard_input_alone(trust) ? 0 : 1);
    }
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &code, 0), child);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
    nc_trust_release(trust);
}

static void make_and_release(void *ctx) {
    nc_trust *trust = NULL;
    const nc_trust_options options = {
        .roots = NC_ROOTS_BYTES, .ca_pem = nc_slice_of("pem"), .identity_pem = nc_slice_of("pem")};
    (void)ctx;
    nc_status status = nc_trust_new(&trust, &options, NULL);
    assert_true(status == NC_OK || status == NC_ERR_NO_MEMORY);
    assert_int_equal(trust != NULL, status == NC_OK);
    nc_trust_release(trust);
}

static void trust__survives_each_allocation_failure(void **state) {
    (void)state;
    assert_true(each_allocation_failure(make_and_release, NULL) > 0);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(trust__policies_with_the_same_decisions_are_equal),
        harness_case(trust__copies_its_options),
        harness_case(trust__copies_its_identity),
        harness_case(trust__a_copy_without_identity_is_otherwise_equal),
        harness_case(trust__rejects_contradictory_options),
        harness_case(trust__never_prompts_for_a_pass_phrase_regression_1),
        harness_case(trust__survives_each_allocation_failure),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
