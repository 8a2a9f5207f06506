#include "net/auth_answer.h"

#include "base/error.h"
#include "net/access.h"
#include "net/challenge.h"
#include "net/digest_auth.h"
#include "net/engine_state.h"
#include "net/handle.h"
#include "net/head.h"
#include "net/quirks.h"
#include "net/response.h"
#include "net/url_text.h"

#include <netcore/hooks.h>
#include <netcore/url.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ANSWER_BYTES = 512 * 1024, CNONCE_BYTES = 16 };

nc_auth_answers nc_auth_answers_init(void) {
    return (nc_auth_answers){{.field = nc_buf_init(MAX_ANSWER_BYTES)}, {.field = nc_buf_init(MAX_ANSWER_BYTES)}};
}

void nc_auth_answers_deinit(nc_auth_answers *answers) {
    nc_buf_deinit(&answers->host.field);
    nc_buf_deinit(&answers->proxy.field);
}

void nc_auth_answers_reset(nc_auth_answers *answers) {
    nc_buf_reset(&answers->host.field);
    nc_buf_reset(&answers->proxy.field);
    answers->host.count = 0;
    answers->proxy.count = 0;
}

static nc_auth_answer *answer_of(nc_transfer *transfer, uint8_t party) {
    return party == NC_PARTY_PROXY ? &transfer->answers.proxy : &transfer->answers.host;
}

uint8_t nc_auth_own_parties(const nc_transfer *transfer) {
    return (uint8_t)((transfer->answers.host.field.length > 0 ? NC_PARTY_HOST : 0) |
                     (transfer->answers.proxy.field.length > 0 ? NC_PARTY_PROXY : 0));
}

bool nc_auth_answers_challenges(const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    return nc_access_has_rounds(nc_handle_proxy(transfer)->credentials.schemes) ||
           (extras != NULL && !transfer->is_elsewhere && nc_access_has_rounds(extras->credentials.schemes));
}

uint8_t nc_auth_awaited_parties(const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    bool is_host = extras != NULL && !transfer->is_elsewhere && nc_access_asks_first(extras->credentials.schemes);
    bool is_proxy = nc_access_asks_first(nc_handle_proxy(transfer)->credentials.schemes);
    uint8_t awaited = (uint8_t)((is_host ? NC_PARTY_HOST : 0) | (is_proxy ? NC_PARTY_PROXY : 0));
    return (uint8_t)(awaited & ~nc_auth_own_parties(transfer));
}

/* --- user and target --- */

/// The inputs of an authorization response; libcurl's texts are freed with release().
typedef struct question {
    char *user;
    char *password;
    char *host;
    char *port;
    char *path;
    char *query;
    nc_digest_question digest;
    nc_buf target;
} question;

static void release(question *asked) {
    char *const texts[] = {asked->user, asked->password, asked->host, asked->port, asked->path, asked->query};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        curl_free(texts[i]);
    }
    nc_buf_deinit(&asked->target);
}

/// Parses the hop's URL as libcurl does for its request.
static bool read_url(question *asked, const nc_transfer *transfer) {
    const nc_extras *extras = transfer->description.extras;
    bool keeps_dots = extras != NULL && extras->keeps_dot_segments;
    unsigned flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | (keeps_dots ? CURLU_PATH_AS_IS : 0u);
    CURLU *url = curl_url();
    bool is_read = url != NULL &&
                   curl_url_set(url, CURLUPART_URL, (const char *)nc_transfer_url(transfer).data, flags) == CURLUE_OK &&
                   curl_url_get(url, CURLUPART_HOST, &asked->host, 0) == CURLUE_OK &&
                   curl_url_get(url, CURLUPART_PORT, &asked->port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                   curl_url_get(url, CURLUPART_PATH, &asked->path, CURLU_URLENCODE) == CURLUE_OK;
    if (is_read) {
        if (nc_quirk_rewrites_escapes(transfer->engine->libcurl_version, nc_transfer_url(transfer))) {
            (void)nc_quirk_restore_escapes(asked->path, nc_transfer_url(transfer), keeps_dots);
        }
        (void)curl_url_get(url, CURLUPART_QUERY, &asked->query, 0);
        (void)curl_url_get(url, CURLUPART_USER, &asked->user, CURLU_URLDECODE);
        (void)curl_url_get(url, CURLUPART_PASSWORD, &asked->password, CURLU_URLDECODE);
    }
    curl_url_cleanup(url);
    return is_read;
}

static nc_slice text_of(const char *text) {
    return nc_slice_of(text != NULL ? text : "");
}

/// Finds the user. The URL takes precedence over given credentials. Returns false if there is none here; libcurl reads
/// the netrc file.
static bool name_user(question *asked, const nc_transfer *transfer, uint8_t party) {
    const nc_extras *extras = transfer->description.extras;
    const nc_kept_credentials *given = party == NC_PARTY_PROXY ? &nc_handle_proxy(transfer)->credentials
                                       : extras != NULL        ? &extras->credentials
                                                               : NULL;
    bool is_in_url = party == NC_PARTY_HOST && asked->user != NULL;
    asked->digest.user = text_of(is_in_url ? asked->user : given != NULL ? given->user : NULL);
    asked->digest.password = text_of(is_in_url ? asked->password : given != NULL ? given->password : NULL);
    return asked->digest.user.length > 0 || asked->digest.password.length > 0 || !transfer->engine->state.uses_netrc;
}

/// Finds the target of the request line: path and query, or host and port of a CONNECT.
static nc_status name_target(question *asked, const nc_transfer *transfer, bool is_connect) {
    const char *method = transfer->description.method;
    asked->target = nc_buf_init(NC_URL_MAX_BYTES + 16);
    if (is_connect) {
        nc_buf_append(&asked->target, text_of(asked->host));
        nc_buf_append_byte(&asked->target, ':');
        nc_buf_append(&asked->target, text_of(asked->port));
    } else {
        nc_buf_append(&asked->target, text_of(asked->path));
        nc_buf_append(&asked->target, nc_slice_of(asked->query != NULL ? "?" : ""));
        nc_buf_append(&asked->target, text_of(asked->query));
    }
    asked->digest.method = nc_slice_of(is_connect ? "CONNECT" : transfer->is_get || method == NULL ? "GET" : method);
    asked->digest.target = nc_buf_slice(&asked->target);
    asked->digest.has_body =
        !is_connect && transfer->description.has_body && transfer->upload.length > 0 && !transfer->is_get;
    return nc_buf_status(&asked->target);
}

/* --- choosing a scheme --- */

static uint32_t schemes_of(const nc_transfer *transfer, uint8_t party) {
    const nc_extras *extras = transfer->description.extras;
    return party == NC_PARTY_PROXY                     ? nc_handle_proxy(transfer)->credentials.schemes
           : extras != NULL && !transfer->is_elsewhere ? extras->credentials.schemes
                                                       : 0;
}

/// The challenges of a response head.
typedef struct offers {
    const nc_response *response;
    nc_slice name;
} offers;

/// Returns the next field with challenges from `at` on, or false after the last one.
static bool next_field(const offers *all, size_t *at, nc_slice *value) {
    while (*at < nc_response_header_count(all->response)) {
        nc_header field = nc_response_header_at(all->response, (*at)++);
        if (nc_slice_is_equal_ignoring_case(field.name, all->name)) {
            *value = field.value;
            return true;
        }
    }
    return false;
}

static bool is_offered(const offers *all, const char *scheme) {
    nc_slice value;
    for (size_t at = 0; next_field(all, &at, &value);) {
        if (nc_challenge_offers(value, scheme)) {
            return true;
        }
    }
    return false;
}

/// Returns true if a scheme that only libcurl supports takes precedence over Digest.
static bool is_libcurls(const offers *all, uint32_t schemes, nc_auth_reason reason) {
    bool is_ntlm = reason == NC_AUTH_WHERE_LOST && (schemes & NC_AUTH_NTLM) != 0 && is_offered(all, "NTLM");
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
static bool is_plain(const nc_transfer *transfer, const offers *all, nc_slice user) {
    nc_slice value;
    unsigned version = transfer->engine->libcurl_version;
    // Otherwise libcurl would sign another path than it sends.
    bool is_encoded = (nc_quirk_encodes_digest_names(version) && !is_ascii(user)) ||
                      nc_quirk_rewrites_escapes(version, nc_transfer_url(transfer));
    for (size_t at = 0; next_field(all, &at, &value);) {
        if (nc_challenge_offers(value, "Digest")) {
            return nc_digest_is_plain(value) && !transfer->framing.has_folded_challenge && !is_encoded;
        }
    }
    return true;
}

static bool read_digest(nc_digest_challenge *out, nc_buf *texts, const offers *all) {
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
                              question *asked) {
    uint8_t bytes[CNONCE_BYTES];
    nc_error err;
    nc_buf *field = &answer_of(transfer, party)->field;
    nc_buf cnonce = nc_buf_init(2 * CNONCE_BYTES);
    nc_random random = nc_random_system();
    if (!random.fill(random.ctx, bytes, sizeof bytes)) {
        return nc_transfer_note(transfer, NC_ERR_INTERNAL, 0, "no random bytes for a digest");
    }
    nc_hex_encode(&cnonce, nc_slice_make(bytes, sizeof bytes));
    asked->digest.cnonce = nc_buf_slice(&cnonce);
    nc_status status = nc_buf_status(&cnonce) == NC_OK ? begin_field(field, party) : NC_ERR_NO_MEMORY;
    (void)nc_error_set(&err, status, 0, -1, "no memory for a digest");
    if (status == NC_OK) {
        status = nc_digest_answer_write(field, challenge, &asked->digest, &err);
    }
    nc_buf_deinit(&cnonce);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, err.native_code, "%s", err.message);
}

static nc_status write_basic(nc_transfer *transfer, uint8_t party, const question *asked) {
    nc_buf *field = &answer_of(transfer, party)->field;
    nc_buf both = nc_buf_init(MAX_ANSWER_BYTES);
    nc_buf_append(&both, asked->digest.user);
    nc_buf_append_byte(&both, ':');
    nc_buf_append(&both, asked->digest.password);
    nc_status status = nc_buf_status(&both) == NC_OK ? begin_field(field, party) : nc_buf_status(&both);
    if (status == NC_OK) {
        nc_buf_append(field, nc_slice_of("Basic "));
        nc_base64_encode(field, nc_buf_slice(&both), NC_BASE64);
        status = nc_buf_status(field);
    }
    nc_buf_deinit(&both);
    return status == NC_OK ? NC_OK : nc_transfer_note(transfer, status, 0, "no memory for credentials");
}

/// Completes the field, and makes the hop begin again with it.
static nc_status finish_answer(nc_transfer *transfer, nc_auth_answer *answer) {
    nc_buf_append_byte(&answer->field, 0);
    if (nc_buf_status(&answer->field) != NC_OK) {
        return nc_transfer_note(transfer, nc_buf_status(&answer->field), 0, "no memory for credentials");
    }
    if (++answer->count > NC_MAX_CHALLENGES) {
        return nc_transfer_note(transfer, NC_ERR_AUTHENTICATION, CURLE_AUTH_ERROR,
                                "the server has taken none of %d proofs", NC_MAX_CHALLENGES);
    }
    if (!nc_upload_can_begin(transfer)) {
        return nc_transfer_note(transfer, NC_ERR_NOT_REWINDABLE, CURLE_SEND_FAIL_REWIND,
                                "the body cannot be sent again after a challenge");
    }
    transfer->asks_anew = true;
    nc_response_repeat_hop(transfer->response);
    return NC_OK;
}

static nc_status answer_with(nc_transfer *transfer, uint8_t party, nc_auth_reason reason, question *asked) {
    const offers all = {transfer->response,
                        nc_slice_of(party == NC_PARTY_PROXY ? "Proxy-Authenticate" : "WWW-Authenticate")};
    nc_auth_answer *answer = answer_of(transfer, party);
    uint32_t schemes = schemes_of(transfer, party);
    nc_digest_challenge challenge;
    bool is_repeated = answer->field.length > 0;
    if (is_libcurls(&all, schemes, reason) ||
        (reason == NC_AUTH_WHERE_MISREAD && !is_repeated && is_plain(transfer, &all, asked->digest.user))) {
        return NC_OK;
    }
    nc_buf texts = nc_buf_init(MAX_ANSWER_BYTES);
    nc_status status = NC_OK;
    bool is_digest = (schemes & NC_AUTH_DIGEST) != 0 && read_digest(&challenge, &texts, &all);
    bool is_basic = !is_digest && reason == NC_AUTH_WHERE_LOST && (schemes & NC_AUTH_BASIC) != 0 && !is_repeated &&
                    is_offered(&all, "Basic");
    if (is_digest && (!is_repeated || challenge.is_stale)) {
        status = write_digest(transfer, party, &challenge, asked);
        status = status == NC_OK ? finish_answer(transfer, answer) : status;
    } else if (is_basic) {
        status = write_basic(transfer, party, asked);
        status = status == NC_OK ? finish_answer(transfer, answer) : status;
    }
    nc_buf_deinit(&texts);
    return status;
}

nc_status nc_auth_answer_head(nc_transfer *transfer, uint8_t party, nc_auth_reason reason) {
    question asked = {0};
    bool is_connect = !transfer->was_connected;
    nc_status status = NC_OK;
    if ((schemes_of(transfer, party) & (NC_AUTH_DIGEST | NC_AUTH_BASIC)) == 0) {
        return NC_OK;
    }
    if (read_url(&asked, transfer) && name_user(&asked, transfer, party)) {
        status = name_target(&asked, transfer, is_connect);
        status = status == NC_OK ? answer_with(transfer, party, reason, &asked)
                                 : nc_transfer_note(transfer, status, 0, "no memory for a digest");
    }
    release(&asked);
    return status;
}

/* --- sending --- */

#define SET(option, value)                                                                                             \
    do {                                                                                                               \
        if (code == CURLE_OK) {                                                                                        \
            code = curl_easy_setopt(easy, option, value);                                                              \
        }                                                                                                              \
    } while (0)

CURLcode nc_auth_answer_set(CURL *easy, nc_transfer *transfer) {
    CURLcode code = CURLE_OK;
    if ((nc_auth_own_parties(transfer) & NC_PARTY_HOST) != 0) {
        SET(CURLOPT_HTTPAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_USERNAME, NULL);
        SET(CURLOPT_PASSWORD, NULL);
        SET(CURLOPT_NETRC, (long)CURL_NETRC_IGNORED);
    }
    if ((nc_auth_own_parties(transfer) & NC_PARTY_PROXY) != 0) {
        nc_auth_answer *answer = &transfer->answers.proxy;
        answer->node =
            (struct curl_slist){.data = (char *)answer->field.data, .next = nc_handle_proxy(transfer)->headers};
        SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
        SET(CURLOPT_PROXYHEADER, &answer->node);
        SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_PROXYUSERNAME, NULL);
        SET(CURLOPT_PROXYPASSWORD, NULL);
    }
    return code;
}

struct curl_slist *nc_auth_answer_link(nc_transfer *transfer, struct curl_slist *fields) {
    nc_auth_answer *answer = &transfer->answers.host;
    if (answer->field.length == 0) {
        return fields;
    }
    answer->node = (struct curl_slist){.data = (char *)answer->field.data, .next = fields};
    return &answer->node;
}
