/// TLS by a policy for programs that connect themselves.
#include "base/alloc.h"
#include "base/error.h"
#include "text/host.h"
#include "trust/handshake.h"
#include "trust/identity.h"
#include "trust/policy.h"
#include "trust/verified_chain_cache.h"

#include <netcore/trust_session.h>
#include <openssl/ssl.h>
#include <string.h>

struct nc_trust_context {
    nc_trust *trust;
    nc_root_store *roots;  // NULL if the policy needs none
    nc_identity *identity; // NULL if the policy has none
    nc_verified_chain_cache chains;
    nc_report_limiter reports;
    nc_clock clock;
};

struct nc_trust_session {
    SSL_CTX *settings;
    SSL *tls;
    nc_error refusal; // its status is NC_OK if there is none
};

nc_status nc_trust_context_new(nc_trust_context **out, nc_trust *trust, nc_error *err) {
    *out = NULL;
    nc_trust_context *context = nc_alloc_zeroed(1, sizeof *context);
    if (context == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    context->trust = nc_trust_retain(trust);
    context->clock = nc_clock_system();
    const nc_file_ops files = nc_file_ops_system();
    nc_status status = nc_trust_load_identity(&context->identity, trust, &files, err);
    if (status == NC_OK && nc_trust_needs_roots(trust)) {
        status = nc_trust_load_roots(&context->roots, trust, &files, err);
    }
    if (status != NC_OK) {
        nc_trust_context_free(context);
        return status;
    }
    *out = context;
    return nc_error_clear(err);
}

void nc_trust_context_free(nc_trust_context *context) {
    if (context != NULL) {
        nc_verified_chain_cache_deinit(&context->chains);
        nc_trust_free_roots(context->roots);
        nc_identity_free(context->identity);
        nc_trust_release(context->trust);
        nc_free(context);
    }
}

static void record_refusal(void *ctx, const nc_trust_result *result) {
    nc_trust_session *session = ctx;
    (void)nc_error_set(&session->refusal, result->status, result->native_code, -1, "%s", result->message);
}

static bool set_versions(SSL_CTX *settings, const nc_trust_options *options) {
    int lowest = options->min_version == NC_TLS_1_3 ? TLS1_3_VERSION : TLS1_2_VERSION;
    int highest = options->max_version == NC_TLS_LIMIT_1_2 ? TLS1_2_VERSION : 0;
    return SSL_CTX_set_min_proto_version(settings, lowest) == 1 &&
           SSL_CTX_set_max_proto_version(settings, highest) == 1;
}

static nc_status fill_settings(nc_trust_session *session, nc_trust_context *context, const nc_host_name *name,
                               uint16_t port, nc_error *err) {
    const nc_handshake handshake = {
        .trust = context->trust,
        .roots = context->roots,
        .chain_cache = &context->chains,
        .gate = &context->reports,
        .host = *name,
        .port = port,
        .clock = &context->clock,
        .ctx = session,
        .refused = record_refusal,
    };
    if (!set_versions(session->settings, &context->trust->options) ||
        !nc_handshake_configure(session->settings, context->trust)) {
        return nc_error_set(err, NC_ERR_UNSUPPORTED, 0, -1,
                            "OpenSSL refuses the TLS versions or ciphers of the policy");
    }
    if (context->roots != NULL) {
        SSL_CTX_set1_cert_store(session->settings, context->roots);
    }
    if (nc_trust_checks_nothing(context->trust)) {
        SSL_CTX_set_verify(session->settings, SSL_VERIFY_NONE, NULL);
    } else if (!nc_handshake_install(session->settings, &handshake)) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    if (context->identity != NULL && !nc_identity_apply(context->identity, session->settings)) {
        return nc_error_set(err, NC_ERR_TLS_IDENTITY, 0, -1, "%s", nc_status_text(NC_ERR_TLS_IDENTITY));
    }
    return NC_OK;
}

nc_status nc_trust_session_new(nc_trust_session **out, nc_trust_context *context, nc_slice host, uint16_t port,
                               nc_error *err) {
    *out = NULL;
    nc_host_name name;
    if (!nc_host_name_parse(&name, host)) {
        return nc_error_set(err, NC_ERR_BAD_URL, 0, -1, "no certificate can contain the host");
    }
    nc_trust_session *session = nc_alloc_zeroed(1, sizeof *session);
    if (session == NULL) {
        return nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    (void)nc_error_clear(&session->refusal);
    session->settings = SSL_CTX_new(TLS_client_method());
    nc_status status = NC_ERR_NO_MEMORY;
    if (session->settings != NULL) {
        status = fill_settings(session, context, &name, port, err);
        session->tls = status == NC_OK ? SSL_new(session->settings) : NULL;
    }
    bool is_named = session->tls != NULL && (name.is_address || SSL_set_tlsext_host_name(session->tls, name.text) == 1);
    if (!is_named) {
        nc_trust_session_free(session);
        return status != NC_OK && status != NC_ERR_NO_MEMORY
                   ? status
                   : nc_error_set(err, NC_ERR_NO_MEMORY, 0, -1, "%s", nc_status_text(NC_ERR_NO_MEMORY));
    }
    SSL_set_connect_state(session->tls);
    *out = session;
    return nc_error_clear(err);
}

SSL *nc_trust_session_tls(nc_trust_session *session) {
    return session->tls;
}

nc_status nc_trust_session_refusal(const nc_trust_session *session, nc_error *err) {
    if (err != NULL) {
        *err = session->refusal;
    }
    return session->refusal.status;
}

void nc_trust_session_free(nc_trust_session *session) {
    if (session != NULL) {
        SSL_free(session->tls);
        SSL_CTX_free(session->settings);
        nc_free(session);
    }
}
