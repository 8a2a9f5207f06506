/// OCSP staples: the leaf's revocation status, signed by its authority.
#include "trust/verify.h"

#include <openssl/err.h>
#include <openssl/ocsp.h>

enum { LENIENCE_S = 300 };

/// Returns true if `at_s` is between the times, with a tolerance. OCSP_check_validity() is not used, because it
/// compares with the system clock only.
static bool is_current(const ASN1_GENERALIZEDTIME *from, const ASN1_GENERALIZEDTIME *until, int64_t at_s) {
    time_t late = (time_t)(at_s + LENIENCE_S);
    time_t early = (time_t)(at_s - LENIENCE_S);
    bool has_begun = from != NULL && ASN1_TIME_check(from) == 1 && X509_cmp_time(from, &late) < 0;
    // A response without nextUpdate means that newer information is always available (RFC 6960, 2.4). It therefore does
    // not prove the current status.
    bool has_ended = until == NULL || ASN1_TIME_check(until) != 1 || X509_cmp_time(until, &early) <= 0;
    return has_begun && !has_ended;
}

static nc_status evaluate_response(const char **why, OCSP_BASICRESP *basic_response, X509 *leaf, X509 *issuer,
                                   int64_t at_s) {
    int answer = V_OCSP_CERTSTATUS_UNKNOWN;
    ASN1_GENERALIZEDTIME *from = NULL;
    ASN1_GENERALIZEDTIME *until = NULL;
    // The response identifies the certificate by a SHA-1 or SHA-256 hash, so both are tried.
    const EVP_MD *const hashes[] = {EVP_sha1(), EVP_sha256()};
    bool is_found = false;
    for (size_t i = 0; i < 2 && !is_found; i++) {
        OCSP_CERTID *id = OCSP_cert_to_id(hashes[i], leaf, issuer);
        is_found = id != NULL && OCSP_resp_find_status(basic_response, id, &answer, NULL, NULL, &from, &until) == 1;
        OCSP_CERTID_free(id);
    }
    if (!is_found) {
        *why = "the stapled OCSP response is for another certificate";
        return NC_ERR_TLS_STAPLE;
    }
    if (!is_current(from, until, at_s)) {
        *why = "the stapled OCSP response is outdated or not yet valid";
        return NC_ERR_TLS_STAPLE;
    }
    if (answer == V_OCSP_CERTSTATUS_REVOKED) {
        *why = "according to the stapled OCSP response";
        return NC_ERR_TLS_REVOKED;
    }
    *why = "the certificate is unknown to its authority";
    return answer == V_OCSP_CERTSTATUS_GOOD ? NC_OK : NC_ERR_TLS_STAPLE;
}

nc_status nc_ocsp_staple_evaluate(const char **why, nc_slice reply, STACK_OF(X509) * chain, X509_STORE *anchors,
                                  int64_t at_s) {
    const unsigned char *at = reply.data;
    nc_status status = NC_ERR_TLS_STAPLE;
    *why = "the server stapled no OCSP response";
    if (reply.length == 0) {
        return status;
    }
    OCSP_RESPONSE *response = d2i_OCSP_RESPONSE(NULL, &at, (long)reply.length);
    OCSP_BASICRESP *basic_response =
        response != NULL && OCSP_response_status(response) == OCSP_RESPONSE_STATUS_SUCCESSFUL
            ? OCSP_response_get1_basic(response)
            : NULL;
    X509 *leaf = sk_X509_value(chain, 0);
    // A chain of one certificate is an anchor that the caller trusts; it is its own issuer here.
    X509 *issuer = sk_X509_num(chain) > 1 ? sk_X509_value(chain, 1) : leaf;
    if (basic_response == NULL) {
        *why = "the stapled OCSP response cannot be read or is not successful";
    } else if (OCSP_basic_verify(basic_response, chain, anchors, 0) <= 0) {
        *why = "the stapled OCSP response is not signed by the certificate's authority";
    } else {
        status = evaluate_response(why, basic_response, leaf, issuer, at_s);
    }
    OCSP_BASICRESP_free(basic_response);
    OCSP_RESPONSE_free(response);
    ERR_clear_error();
    return status;
}
