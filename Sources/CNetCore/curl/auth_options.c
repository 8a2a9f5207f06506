#include "curl/auth_response.h"

#include "base/fnv.h"

#include <string.h>

/// Collects the first failure of a series of options.
#define SET(option, value)                                                                                             \
    do {                                                                                                               \
        if (code == CURLE_OK) {                                                                                        \
            code = curl_easy_setopt(easy, option, value);                                                              \
        }                                                                                                              \
    } while (0)

static long mask_of(uint32_t schemes) {
    return (long)(((schemes & NC_AUTH_BASIC) != 0 ? CURLAUTH_BASIC : 0) |
                  ((schemes & NC_AUTH_DIGEST) != 0 ? CURLAUTH_DIGEST : 0) |
                  ((schemes & NC_AUTH_BEARER) != 0 ? CURLAUTH_BEARER : 0) |
                  ((schemes & NC_AUTH_NTLM) != 0 ? CURLAUTH_NTLM : 0) |
                  ((schemes & NC_AUTH_NEGOTIATE) != 0 ? CURLAUTH_NEGOTIATE : 0));
}

bool nc_auth_options_has_rounds(uint32_t schemes) {
    return schemes != 0 && schemes != NC_AUTH_BASIC && schemes != NC_AUTH_BEARER;
}

bool nc_auth_options_wait_for_challenge(uint32_t schemes) {
    return nc_auth_options_has_rounds(schemes) && (schemes & (schemes - 1)) == 0;
}

/// With a single scheme, libcurl may send a first request without its body. With two schemes, it sends the body, and
/// chooses a scheme after the challenge. No server offers the second scheme used here.
long nc_auth_options_send_body_first(uint32_t schemes) {
    return mask_of(schemes) | (long)CURLAUTH_AWS_SIGV4;
}

/// Returns true if the credentials name no user, and the netrc file may have one. The schemes then decide how the
/// file's credentials are sent.
static bool uses_netrc_user(const nc_engine_config *state, const nc_copied_credentials *credentials) {
    bool is_empty = credentials->user[0] == '\0' && credentials->password[0] == '\0';
    return state->uses_netrc && is_empty && (credentials->schemes & ~(uint32_t)(NC_AUTH_BASIC | NC_AUTH_DIGEST)) == 0;
}

static CURLcode set_credentials(CURL *easy, const nc_engine_config *state, const nc_copied_credentials *credentials) {
    CURLcode code = CURLE_OK;
    if (credentials->schemes != 0) {
        SET(CURLOPT_HTTPAUTH, mask_of(credentials->schemes));
        SET(CURLOPT_XOAUTH2_BEARER, credentials->token);
        // A token alone has no user: libcurl would otherwise use the empty user for Basic.
        if (credentials->schemes != NC_AUTH_BEARER && !uses_netrc_user(state, credentials)) {
            SET(CURLOPT_USERNAME, credentials->user);
            SET(CURLOPT_PASSWORD, credentials->password);
        }
    }
    return code;
}

static CURLcode set_proxy(CURL *easy, const nc_copied_proxy *proxy) {
    CURLcode code = CURLE_OK;
    // Without the option libcurl reads the environment; with an empty value it uses no proxy.
    const char *none = proxy->choice == NC_PROXY_ENVIRONMENT ? NULL : "";
    SET(CURLOPT_PROXY, proxy->choice == NC_PROXY_URL ? proxy->url : none);
    SET(CURLOPT_NOPROXY, proxy->except != NULL ? proxy->except : none);
    SET(CURLOPT_HTTPPROXYTUNNEL, proxy->uses_tunnel ? 1L : 0L);
    SET(CURLOPT_HEADEROPT, (long)CURLHEADER_SEPARATE);
    SET(CURLOPT_PROXYHEADER, proxy->headers);
    // A SOCKS5 password is sent in clear text, and libcurl would offer a Kerberos ticket by default.
    long socks = proxy->credentials.schemes != 0 ? mask_of(proxy->credentials.schemes) : (long)CURLAUTH_BASIC;
    SET(CURLOPT_SOCKS5_AUTH, socks & (long)(CURLAUTH_BASIC | CURLAUTH_GSSAPI));
    if (proxy->credentials.schemes != 0) {
        SET(CURLOPT_PROXYAUTH, mask_of(proxy->credentials.schemes));
        SET(CURLOPT_PROXYUSERNAME, proxy->credentials.user);
        SET(CURLOPT_PROXYPASSWORD, proxy->credentials.password);
    } else {
        // The handle may have the credentials of the engine's proxy, which another proxy must not get.
        SET(CURLOPT_PROXYAUTH, (long)CURLAUTH_BASIC);
        SET(CURLOPT_PROXYUSERNAME, NULL);
        SET(CURLOPT_PROXYPASSWORD, NULL);
    }
    // With these schemes, libcurl drops the body of a proxy's challenge without a callback. nc_callbacks_on_progress()
    // counts its bytes.
    SET(CURLOPT_NOPROGRESS, nc_auth_options_has_rounds(proxy->credentials.schemes) ? 0L : 1L);
    return code;
}

/// Mixes in a text and its NUL.
static uint64_t mix(uint64_t sum, const char *text) {
    const char *bytes = text != NULL ? text : "";
    return nc_fnv_add(sum, nc_slice_make(bytes, strlen(bytes) + 1));
}

static uint64_t mix_credentials(uint64_t sum, const nc_copied_credentials *credentials) {
    return mix(mix(sum ^ credentials->schemes, credentials->user), credentials->password);
}

uint64_t nc_auth_options_proxy_key(const nc_engine_config *state, const nc_copied_options *options) {
    const nc_copied_proxy *proxy = options != NULL && options->has_proxy ? &options->proxy : &state->proxy;
    bool is_open = proxy->credentials.schemes == 0 && proxy->headers == NULL;
    bool has_no_user = proxy->choice != NC_PROXY_URL || strchr(proxy->url, '@') == NULL;
    if (proxy->choice == NC_PROXY_NONE || (is_open && has_no_user)) {
        return 0;
    }
    uint64_t sum = mix_credentials(mix(NC_FNV_START, proxy->url), &proxy->credentials);
    for (const struct curl_slist *field = proxy->headers; field != NULL; field = field->next) {
        sum = mix(sum, field->data);
    }
    return sum != 0 ? sum : 1;
}

/// Keys for requests that may share a connection with any other user. Requests whose user is in the netrc file have
/// their own key, because the file may have no entry for the host.
enum { KEY_NETRC_USER = 1, KEY_ANY_USER = 2, KEY_ONE_USER = 4 };

uint64_t nc_auth_options_user_key(const nc_engine_config *state, const nc_copied_options *options) {
    if (options == NULL || !nc_auth_options_has_rounds(options->credentials.schemes)) {
        return 0;
    }
    if ((options->credentials.schemes & NC_AUTH_NEGOTIATE) != 0) {
        return mix_credentials(NC_FNV_START, &options->credentials) | KEY_ONE_USER;
    }
    return uses_netrc_user(state, &options->credentials) ? KEY_NETRC_USER : KEY_ANY_USER;
}

bool nc_auth_options_reads_netrc(const nc_engine_config *state, const nc_copied_options *options) {
    bool has_user = options != NULL && options->credentials.schemes != 0 &&
                    options->credentials.schemes != NC_AUTH_BEARER && !uses_netrc_user(state, &options->credentials);
    return state->uses_netrc && !has_user;
}

CURLcode nc_auth_options_set_engine(CURL *easy, const nc_engine_config *state) {
    CURLcode code = set_proxy(easy, &state->proxy);
    if (state->family != NC_FAMILY_ANY) {
        SET(CURLOPT_IPRESOLVE, state->family == NC_FAMILY_IPV4 ? (long)CURL_IPRESOLVE_V4 : (long)CURL_IPRESOLVE_V6);
    }
    SET(CURLOPT_NETRC, state->uses_netrc ? (long)CURL_NETRC_OPTIONAL : (long)CURL_NETRC_IGNORED);
    if (state->netrc_file != NULL) {
        SET(CURLOPT_NETRC_FILE, state->netrc_file);
    }
    if (state->doh_url != NULL) {
        SET(CURLOPT_DOH_URL, state->doh_url);
    }
    return code;
}

CURLcode nc_auth_options_set_request(CURL *easy, const nc_engine_config *state, const nc_copied_options *options,
                                     bool is_cross_origin) {
    CURLcode code = options->has_proxy ? set_proxy(easy, &options->proxy) : CURLE_OK;
    if (!is_cross_origin) {
        if (code == CURLE_OK) {
            code = set_credentials(easy, state, &options->credentials);
        }
        if (options->unix_socket != NULL) {
            SET(CURLOPT_UNIX_SOCKET_PATH, options->unix_socket);
        }
    }
    if (options->keeps_dot_segments) {
        SET(CURLOPT_PATH_AS_IS, 1L);
    }
    return code;
}
