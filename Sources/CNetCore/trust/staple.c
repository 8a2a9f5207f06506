#include "trust/staple.h"

#include <openssl/err.h>
#include <openssl/ocsp.h>

enum { LENIENCE_S = 300 };

/// Compares the times with `at_s`; OCSP_check_validity() can only use the system clock.
static bool is_current(const ASN1_GENERALIZEDTIME *from, const ASN1_GENERALIZEDTIME *until, int64_t at_s) {
    time_t late = (time_t)(at_s + LENIENCE_S);
    time_t early = (time_t)(at_s - LENIENCE_S);
    bool has_begun = from != NULL && ASN1_TIME_check(from) == 1 && X509_cmp_time(from, &late) < 0;
    // Without nextUpdate, newer information is always available (RFC 6960, 2.4), so the response does not prove the
    // current status.
    bool has_ended = until == NULL || ASN1_TIME_check(until) != 1 || X509_cmp_time(until, &early) <= 0;
    return has_begun && !has_ended;
}

static nc_status judge_word(const char **why, OCSP_BASICRESP *word, X509 *leaf, X509 *issuer, int64_t at_s) {
    int answer = V_OCSP_CERTSTATUS_UNKNOWN;
    ASN1_GENERALIZEDTIME *from = NULL;
    ASN1_GENERALIZEDTIME *until = NULL;
    // The certificate's id may be hashed with SHA-1 or SHA-256, so both are tried.
    const EVP_MD *const hashes[] = {EVP_sha1(), EVP_sha256()};
    bool is_found = false;
    for (size_t i = 0; i < 2 && !is_found; i++) {
        OCSP_CERTID *id = OCSP_cert_to_id(hashes[i], leaf, issuer);
        is_found = id != NULL && OCSP_resp_find_status(word, id, &answer, NULL, NULL, &from, &until) == 1;
        OCSP_CERTID_free(id);
    }
    if (!is_found) {
        *why = "the stapled reply is about another certificate";
        return NC_ERR_TLS_STAPLE;
    }
    if (!is_current(from, until, at_s)) {
        *why = "the stapled reply is out of date";
        return NC_ERR_TLS_STAPLE;
    }
    if (answer == V_OCSP_CERTSTATUS_REVOKED) {
        *why = "the stapled reply says so";
        return NC_ERR_TLS_REVOKED;
    }
    *why = "the authority does not know the certificate";
    return answer == V_OCSP_CERTSTATUS_GOOD ? NC_OK : NC_ERR_TLS_STAPLE;
}

nc_status nc_staple_judge(const char **why, nc_slice reply, STACK_OF(X509) * chain, X509_STORE *anchors, int64_t at_s) {
    const unsigned char *at = reply.data;
    nc_status status = NC_ERR_TLS_STAPLE;
    *why = "the server stapled no reply";
    if (reply.length == 0) {
        return status;
    }
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)reply.length);
    OCSP_BASICRESP *word = response != NULL && OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL
                               ? OCSP_response_get1_basic(response)
                               : NULL;
    X509 *leaf = sk_X509_value(chain, 0);
    // A chain of one certificate is the caller's anchor, which has no issuer.
    X509 *issuer = sk_X509_num(chain) > 1 ? sk_X509_value(chain, 1) : leaf;
    if (word == NULL) {
        *why = "the stapled reply cannot be read or is no success";
    } else if (OCSP_basic_verify(word, chain, anchors, 0) <= 0) {
        *why = "the stapled reply is not signed by the certificate's authority";
    } else {
        status = judge_word(why, word, leaf, issuer, at_s);
    }
    OCSP_BASICRESP_free(word);
    OCSP_RESPONSE_free(response);
    ERR_clear_error();
    return status;
}
