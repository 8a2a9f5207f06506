#include "family.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static nct_test_certificate *make(const nct_test_certificate *issuer, const char *name, const char *names,
                                  bool is_authority) {
    nct_test_certificate *made = nct_test_certificate_create(&(nct_certificate_options){
        .issuer = issuer, .common_name = name, .names = names, .is_authority = is_authority});
    assert_non_null(made);
    return made;
}

void family_make(family *f) {
    static const char here[] = "DNS:localhost,IP:127.0.0.1";
    *f = (family){0};
    f->root = make(NULL, "Root", NULL, true);
    f->middle = make(f->root, "Middle", NULL, true);
    f->leaf = make(f->middle, "leaf", here, false);
    f->other = make(f->middle, "other", "DNS:other.example", false);
    f->loner = make(NULL, "loner", here, false);
    f->foreign = make(NULL, "Foreign", NULL, true);
    f->evil = make(f->foreign, "leaf", here, false);
    f->expired = nct_test_certificate_create(&(nct_certificate_options){
        .issuer = f->root, .common_name = "old", .names = here, .begins_in_days = -9, .ends_in_days = -1});
    assert_non_null(f->expired);
}

void family_free(family *f) {
    nct_test_certificate *const all[] = {f->root,  f->middle,  f->leaf, f->other,
                                         f->loner, f->foreign, f->evil, f->expired};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        nct_test_certificate_free(all[i]);
    }
    for (size_t i = 0; i < f->text_count; i++) {
        free(f->texts[i]);
    }
}

nc_slice family_join(family *f, const nct_test_certificate *first, ...) {
    char *text = calloc(1, 16384);
    va_list more;
    assert_non_null(text);
    assert_true(f->text_count < sizeof f->texts / sizeof *f->texts);
    f->texts[f->text_count++] = text;
    va_start(more, first);
    for (const nct_test_certificate *made = first; made != NULL; made = va_arg(more, const nct_test_certificate *)) {
        strncat(text, nct_test_certificate_pem(made), 16383 - strlen(text));
    }
    va_end(more);
    return nc_slice_of(text);
}

int64_t family_now(void) {
    return (int64_t)time(NULL);
}

X509 *family_certificate(const nct_test_certificate *made) {
    size_t length = 0;
    const unsigned char *at = nct_test_certificate_der(made, &length);
    X509 *certificate = d2i_X509(NULL, &at, (long)length);
    assert_non_null(certificate);
    return certificate;
}

nc_trust *family_trust(const nc_trust_options *options) {
    nc_trust *trust = NULL;
    nc_error err;
    nc_status status = nc_trust_new(&trust, options, &err);
    if (status != NC_OK) {
        fail_msg("%s: %s", nc_status_name(status), err.message);
    }
    return trust;
}

nc_trust_result family_evaluate(const nc_trust_options *options, nc_slice chain, const char *host) {
    nc_trust *trust = family_trust(options);
    const nc_trust_question question = {.chain = chain, .host = nc_slice_of(host), .at_s = family_now()};
    nc_trust_result result;
    nc_error err;
    assert_status(nc_trust_evaluate(&result, trust, &question, &err), NC_OK);
    nc_trust_release(trust);
    return result;
}

nc_status family_status(const nc_trust_options *options, nc_slice chain, const char *host) {
    return family_evaluate(options, chain, host).status;
}
