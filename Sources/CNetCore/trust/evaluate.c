#include "base/error.h"
#include "trust/chain.h"
#include "trust/judge.h"

#include <stdio.h>
#include <string.h>

enum { HTTPS_PORT = 443 };

/// Refuses a chain that cannot be parsed. This is an evaluation result, not a failure of the function.
static void refuse_unread(nc_trust_verdict *out, const nc_error *why) {
    *out = (nc_trust_verdict){.status = why->status, .finding = why->status};
    memcpy(out->message, why->message, sizeof out->message);
}

/// The question: everything except the chain.
typedef struct asking {
    const nc_trust *trust;
    const nc_trust_question *question;
    nc_public_suffix_fn is_public_suffix;
} asking;

static nc_status judge(nc_trust_verdict *out, const asking *all, STACK_OF(X509) * chain, nc_error *err) {
    const nc_trust *trust = all->trust;
    const nc_trust_question *question = all->question;
    const nc_file_ops files = nc_file_ops_system();
    nc_host_name host = {.length = 0};
    STACK_OF(X509) *verified = NULL;
    nc_root_store *roots = NULL;
    if (nc_trust_needs_roots(trust)) {
        nc_status status = nc_trust_load_roots(&roots, trust, &files, err);
        if (status != NC_OK) {
            return status;
        }
    }
    // No certificate can name a malformed host.
    if (!nc_host_name_parse(&host, question->host)) {
        host = (nc_host_name){.length = 0};
    }
    const nc_trust_case asked = {
        .trust = trust,
        .roots = roots,
        .sent = {.leaf = sk_X509_value(chain, 0), .certificates = chain, .at_s = question->at_s},
        .host = &host,
        .port = question->port != 0 ? question->port : (uint16_t)HTTPS_PORT,
        .is_public_suffix = all->is_public_suffix,
    };
    nc_trust_judge(out, &verified, &asked);
    nc_trust_list_pins(out, verified, &asked);
    sk_X509_pop_free(verified, X509_free);
    nc_trust_free_roots(roots);
    return out->status == NC_ERR_NO_MEMORY ? nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "no memory to judge a chain")
                                           : nc_error_clear(err);
}

nc_status nc_trust_evaluate_with(nc_trust_verdict *out, const nc_trust *trust, const nc_trust_question *question,
                                 nc_public_suffix_fn is_public_suffix, nc_error *err) {
    const asking all = {trust, question, is_public_suffix};
    nc_error detail;
    nc_trust_verdict verdict;
    STACK_OF(X509) *chain = NULL;
    nc_status status = nc_chain_parse(&chain, question->chain, &detail);
    if (status == NC_ERR_TLS_CERTIFICATE) {
        refuse_unread(out, &detail);
        return nc_error_clear(err);
    }
    if (status == NC_OK) {
        status = judge(&verdict, &all, chain, &detail);
    }
    sk_X509_pop_free(chain, X509_free);
    if (status == NC_OK) {
        *out = verdict;
        return nc_error_clear(err);
    }
    if (err != NULL) {
        *err = detail;
    }
    return status;
}
