#include "curl/auth_response.h"

#include "base/error.h"
#include "curl/easy_handle.h"
#include "curl/quirks.h"
#include "http/challenge.h"
#include "http/digest_auth.h"
#include "http/url_text.h"
#include "request/response.h"
#include "state/engine_record.h"
#include "state/transfer_state.h"

#include <netcore/hooks.h>
#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

enum { MAX_FIELD_BYTES = 512 * 1024, CNONCE_BYTES = 16 };

nc_auth_responses nc_auth_responses_init(void) {
    return (nc_auth_responses){{.field = nc_buf_init(MAX_FIELD_BYTES)}, {.field = nc_buf_init(MAX_FIELD_BYTES)}};
}

void nc_auth_responses_deinit(nc_auth_responses *responses) {
    nc_buf_deinit(&responses->host.field);
    nc_buf_deinit(&responses->proxy.field);
}

void nc_auth_responses_reset(nc_auth_responses *responses) {
    nc_buf_reset(&responses->host.field);
    nc_buf_reset(&responses->proxy.field);
    responses->host.count = 0;
    responses->proxy.count = 0;
}

static nc_auth_response *response_of(nc_transfer *transfer, uint8_t party) {
    return party == NC_PARTY_PROXY ? &transfer->auth_responses.proxy : &transfer->auth_responses.host;
}

uint8_t nc_auth_own_parties(const nc_transfer *transfer) {
    return (uint8_t)((transfer->auth_responses.host.field.length > 0 ? NC_PARTY_HOST : 0) |
                     (transfer->auth_responses.proxy.field.length > 0 ? NC_PARTY_PROXY : 0));
}

bool nc_auth_can_respond(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    return nc_auth_options_has_rounds(nc_transfer_proxy(transfer)->credentials.schemes) ||
           (options != NULL && !transfer->is_cross_origin && nc_auth_options_has_rounds(options->credentials.schemes));
}

uint8_t nc_auth_awaited_parties(const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    bool is_host = options != NULL && !transfer->is_cross_origin &&
                   nc_auth_options_wait_for_challenge(options->credentials.schemes);
    bool is_proxy = nc_auth_options_wait_for_challenge(nc_transfer_proxy(transfer)->credentials.schemes);
    uint8_t awaited = (uint8_t)((is_host ? NC_PARTY_HOST : 0) | (is_proxy ? NC_PARTY_PROXY : 0));
    return (uint8_t)(awaited & ~nc_auth_own_parties(transfer));
}

/* --- user and target --- */

/// The inputs of an authorization response; libcurl's texts are freed with release().
typedef struct auth_input {
    char *user;
    char *password;
    char *host;
    char *port;
    char *path;
    char *query;
    nc_digest_question digest;
    nc_buf target;
} auth_input;

static void release(auth_input *input) {
    char *const texts[] = {input->user, input->password, input->host, input->port, input->path, input->query};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        curl_free(texts[i]);
    }
    nc_buf_deinit(&input->target);
}

/// Parses the hop's URL as libcurl does for its request.
static bool read_url(auth_input *input, const nc_transfer *transfer) {
    const nc_copied_options *options = transfer->request.options;
    bool keeps_dots = options != NULL && options->keeps_dot_segments;
    unsigned flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | (keeps_dots ? CURLU_PATH_AS_IS : 0u);
    CURLU *url = curl_url();
    bool is_read = url != NULL &&
                   curl_url_set(url, CURLUPART_URL, (const char *)nc_transfer_url(transfer).data, flags) == CURLUE_OK &&
                   curl_url_get(url, CURLUPART_HOST, &input->host, 0) == CURLUE_OK &&
                   curl_url_get(url, CURLUPART_PORT, &input->port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                   curl_url_get(url, CURLUPART_PATH, &input->path, CURLU_URLENCODE) == CURLUE_OK;
    if (is_read) {
        if (nc_quirk_rewrites_escapes(transfer->engine->libcurl_version, nc_transfer_url(transfer))) {
            (void)nc_quirk_restore_escapes(input->path, nc_transfer_url(transfer), keeps_dots);
        }
        (void)curl_url_get(url, CURLUPART_QUERY, &input->query, 0);
        (void)curl_url_get(url, CURLUPART_USER, &input->user, CURLU_URLDECODE);
        (void)curl_url_get(url, CURLUPART_PASSWORD, &input->password, CURLU_URLDECODE);
    }
    curl_url_cleanup(url);
    return is_read;
}

static nc_slice text_of(const char *text) {
    return nc_slice_of(text != NULL ? text : "");
}

/// Finds the user and password. Those in the URL take precedence over the request's credentials. Returns false if only
/// libcurl knows them, because it reads the netrc file.
static bool find_user(auth_input *input, const nc_transfer *transfer, uint8_t party) {
    const nc_copied_options *options = transfer->request.options;
    const nc_copied_credentials *given = party == NC_PARTY_PROXY ? &nc_transfer_proxy(transfer)->credentials
                                         : options != NULL       ? &options->credentials
                                                                 : NULL;
    bool is_in_url = party == NC_PARTY_HOST && input->user != NULL;
    input->digest.user = text_of(is_in_url ? input->user : given != NULL ? given->user : NULL);
    input->digest.password = text_of(is_in_url ? input->password : given != NULL ? given->password : NULL);
    return input->digest.user.length > 0 || input->digest.password.length > 0 || !transfer->engine->state.uses_netrc;
}

/// Finds the target of the request line: path and query, or host and port of a CONNECT.
static nc_status find_target(auth_input *input, const nc_transfer *transfer, bool is_connect) {
    const char *method = transfer->request.method;
    input->target = nc_buf_init(NC_URL_MAX_BYTES + 16);
    if (is_connect) {
        nc_buf_append(&input->target, text_of(input->host));
        nc_buf_append_byte(&input->target, ':');
        nc_buf_append(&input->target, text_of(input->port));
    } else {
        nc_buf_append(&input->target, text_of(input->path));
        nc_buf_append(&input->target, nc_slice_of(input->query != NULL ? "?" : ""));
        nc_buf_append(&input->target, text_of(input->query));
    }
    input->digest.method = nc_slice_of(is_connect ? "CONNECT" : transfer->is_get || method == NULL ? "GET" : method);
    input->digest.target = nc_buf_slice(&input->target);
    input->digest.has_body =
        !is_connect && transfer->request.has_body && transfer->upload.length > 0 && !transfer->is_get;
    return nc_buf_status(&input->target);
}

/* --- choosing a scheme --- */

static uint32_t schemes_of(const nc_transfer *transfer, uint8_t party) {
    const nc_copied_options *options = transfer->request.options;
    return party == NC_PARTY_PROXY                         ? nc_transfer_proxy(transfer)->credentials.schemes
           : options != NULL && !transfer->is_cross_origin ? options->credentials.schemes
                                                           : 0;
}

/// The challenges of a response head.
typedef struct challenge_list {
    const nc_response *response;
    nc_slice name;
} challenge_list;

/// Returns the next field with challenges from `at` on, or false after the last one.
static bool next_field(const challenge_list *all, size_t *at, nc_slice *value) {
    while (*at < nc_response_header_count(all->response)) {
        nc_header field = nc_response_header_at(all->response, (*at)++);
        if (nc_slice_is_equal_ignoring_case(field.name, all->name)) {
            *value = field.value;
            return true;
        }
    }
    return false;
}

static bool is_offered(const challenge_list *all, const char *scheme) {
    nc_slice value;
    for (size_t at = 0; next_field(all, &at, &value);) {
        if (nc_challenge_offers(value, scheme)) {
            return true;
        }
    }
    return false;
}

/// Returns true if a scheme that only libcurl supports takes precedence over Digest.
static bool prefers_other_scheme(const challenge_list *all, uint32_t schemes, nc_auth_reason reason) {
    bool is_ntlm = reason == NC_AUTH_REASON_LOST && (schemes & NC_AUTH_NTLM) != 0 && is_offered(all, "NTLM");
    return ((schemes & NC_AUTH_NEGOTIATE) != 0 && is_offered(all, "Negotiate")) ||
           ((schemes & NC_AUTH_BEARER) != 0 && is_offered(all, "Bearer")) || is_ntlm;
}

static bool is_ascii(nc_slice text) {
    for (size_t i = 0; i < text.length; i++) {
        if (text.data[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

/// Returns true if libcurl responds correctly to the head's Digest challenge.
static bool libcurl_responds_correctly(const nc_transfer *transfer, const challenge_list *all, nc_slice user) {
    nc_slice value;
    unsigned version = transfer->engine->libcurl_version;
    // In these cases, libcurl would encode the user's name, or compute the response for another path than it sends.
    bool is_encoded = (nc_quirk_encodes_digest_names(version) && !is_ascii(user)) ||
                      nc_quirk_rewrites_escapes(version, nc_transfer_url(transfer));
    for (size_t at = 0; next_field(all, &at, &value);) {
        if (nc_challenge_offers(value, "Digest")) {
            return !nc_quirk_misreads_digest(value, transfer->hop.framing.has_folded_challenge) && !is_encoded;
        }
    }
    return true;
}

static bool read_digest(nc_digest_challenge *out, nc_buf *texts, const challenge_list *all) {
    nc_slice value;
    for (size_t at = 0; next_field(all, &at, &value);) {
        if (nc_digest_challenge_read(out, texts, value)) {
            return true;
        }
    }
    return false;
}

static nc_status begin_field(nc_buf *field, uint8_t party) {
    nc_buf_reset(field);
    nc_buf_append(field, nc_slice_of(party == NC_PARTY_PROXY ? "Proxy-Authorization: " : "Authorization: "));
    return nc_buf_status(field);
}

static nc_status write_digest(nc_transfer *transfer, uint8_t party, const nc_digest_challenge *challenge,
                              auth_input *input) {
    uint8_t bytes[CNONCE_BYTES];
    nc_error err;
    nc_buf *field = &response_of(transfer, party)->field;
    nc_buf cnonce = nc_buf_init(2 * CNONCE_BYTES);
    nc_random random = nc_random_system();
    if (!random.fill(random.ctx, bytes, sizeof bytes)) {
        return nc_transfer_record_error(transfer, NC_ERR_INTERNAL, 0,
                                        "the system's random generator failed: cannot compute a Digest response");
    }
    nc_hex_encode(&cnonce, nc_slice_make(bytes, sizeof bytes));
    input->digest.cnonce = nc_buf_slice(&cnonce);
    nc_status status = nc_buf_status(&cnonce) == NC_OK ? begin_field(field, party) : NC_ERR_NO_MEMORY;
    (void)nc_error_set(&err, status, 0, -1, "no memory for a digest");
    if (status == NC_OK) {
        status = nc_digest_response_write(field, challenge, &input->digest, &err);
    }
    nc_buf_deinit(&cnonce);
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, err.native_code, "%s", err.message);
}

static nc_status write_basic(nc_transfer *transfer, uint8_t party, const auth_input *input) {
    nc_buf *field = &response_of(transfer, party)->field;
    nc_buf both = nc_buf_init(MAX_FIELD_BYTES);
    nc_buf_append(&both, input->digest.user);
    nc_buf_append_byte(&both, ':');
    nc_buf_append(&both, input->digest.password);
    nc_status status = nc_buf_status(&both) == NC_OK ? begin_field(field, party) : nc_buf_status(&both);
    if (status == NC_OK) {
        nc_buf_append(field, nc_slice_of("Basic "));
        nc_base64_encode(field, nc_buf_slice(&both), NC_BASE64);
        status = nc_buf_status(field);
    }
    nc_buf_deinit(&both);
    return status == NC_OK ? NC_OK : nc_transfer_record_error(transfer, status, 0, "no memory for credentials");
}

/// Completes the field, and makes the hop begin again with it.
static nc_status complete_response(nc_transfer *transfer, nc_auth_response *response) {
    nc_buf_append_byte(&response->field, 0);
    if (nc_buf_status(&response->field) != NC_OK) {
        return nc_transfer_record_error(transfer, nc_buf_status(&response->field), 0, "no memory for credentials");
    }
    if (++response->count > NC_MAX_CHALLENGES) {
        return nc_transfer_record_error(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                        "the server rejected the credentials after %d challenges", NC_MAX_CHALLENGES);
    }
    if (!nc_transfer_can_send_body_again(transfer)) {
        return nc_transfer_record_error(transfer, NC_ERR_NOT_REWINDABLE, CURLE_SEND_FAIL_REWIND,
                                        "the request body cannot be sent again after an authentication challenge");
    }
    transfer->hop.outcome = NC_HOP_RETRIES;
    nc_response_repeat_hop(transfer->response);
    return NC_OK;
}

static nc_status respond(nc_transfer *transfer, uint8_t party, nc_auth_reason reason, auth_input *input) {
    const challenge_list all = {transfer->response,
                                nc_slice_of(party == NC_PARTY_PROXY ? "Proxy-Authenticate" : "WWW-Authenticate")};
    nc_auth_response *response = response_of(transfer, party);
    uint32_t schemes = schemes_of(transfer, party);
    nc_digest_challenge challenge;
    bool has_responded = response->field.length > 0;
    if (prefers_other_scheme(&all, schemes, reason) ||
        (reason == NC_AUTH_REASON_MISREAD && !has_responded &&
         libcurl_responds_correctly(transfer, &all, input->digest.user))) {
        return NC_OK;
    }
    nc_buf texts = nc_buf_init(MAX_FIELD_BYTES);
    nc_status status = NC_OK;
    bool is_digest = (schemes & NC_AUTH_DIGEST) != 0 && read_digest(&challenge, &texts, &all);
    bool is_basic = !is_digest && reason == NC_AUTH_REASON_LOST && (schemes & NC_AUTH_BASIC) != 0 && !has_responded &&
                    is_offered(&all, "Basic");
    if (is_digest && (!has_responded || challenge.is_stale)) {
        status = write_digest(transfer, party, &challenge, input);
        status = status == NC_OK ? complete_response(transfer, response) : status;
    } else if (is_basic) {
        status = write_basic(transfer, party, input);
        status = status == NC_OK ? complete_response(transfer, response) : status;
    }
    nc_buf_deinit(&texts);
    return status;
}

nc_status nc_auth_response_head(nc_transfer *transfer, uint8_t party, nc_auth_reason reason) {
    auth_input input = {0};
    bool is_connect = !transfer->hop.was_connected;
    nc_status status = NC_OK;
    if ((schemes_of(transfer, party) & (NC_AUTH_DIGEST | NC_AUTH_BASIC)) == 0) {
        return NC_OK;
    }
    if (read_url(&input, transfer) && find_user(&input, transfer, party)) {
        status = find_target(&input, transfer, is_connect);
        status = status == NC_OK ? respond(transfer, party, reason, &input)
                                 : nc_transfer_record_error(transfer, status, 0, "no memory for a digest");
    }
    release(&input);
    return status;
}

/* --- sending --- */

#define SET(option, value)                                                                                             \
    do {                                                                                                               \
        if (code == CURLE_OK) {                                                                                        \
            code = curl_easy_setopt(easy, option, value);                                                              \
        }                                                                                                              \
    } while (0)

CURLcode nc_auth_response_set(CURL *easy, nc_transfer *transfer) {
    CURLcode code = CURLE_OK;
    if ((nc_auth_own_parties(transfer) & NC_PARTY_HOST) != 0) {
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_USERNAME, NULL);
        SET(CURLOPT_PASSWORD, NULL);
        SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    }
    if ((nc_auth_own_parties(transfer) & NC_PARTY_PROXY) != 0) {
        nc_auth_response *response = &transfer->auth_responses.proxy;
        response->node =
            (struct curl_slist){.data = (char *)response->field.data, .next = nc_transfer_proxy(transfer)->headers};
        SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
        SET(CURLOPT_PROXYHEADER, &response->node);
        SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_PROXYUSERNAME, NULL);
        SET(CURLOPT_PROXYPASSWORD, NULL);
    }
    return code;
}

struct curl_slist *nc_auth_response_link(nc_transfer *transfer, struct curl_slist *fields) {
    nc_auth_response *response = &transfer->auth_responses.host;
    if (response->field.length == 0) {
        return fields;
    }
    response->node = (struct curl_slist){.data = (char *)response->field.data, .next = fields};
    return &response->node;
}
