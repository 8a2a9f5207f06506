/// Covers: http/redirect.c http/url_text.c
///
/// The target that nc_redirect_decide() chooses, checked by libcurl's URL parser and by the documented rules.
/// Input: status, flags, redirects so far, their limit (a byte each), the requested URL, the Location field.
#include "input.h"

#include "request/request_copy.h"
#include <netcore/redirect.h>

#include <curl/curl.h>
#include <netcore/url.h>
#include <string.h>
#include <strings.h>

static const uint16_t statuses[] = {301, 302, 303, 307, 308, 200, 300, 304, 305, 306, 399, 404, 100, 999, 0};

/// The parts of a URL that determine its connection, as libcurl parses them.
typedef struct origin {
    char *scheme;
    char *host;
    char *port;
} origin;

static bool parse_origin(origin *out, const char *url) {
    CURLU *handle = curl_url();
    CHECK(handle != NULL);
    *out = (origin){0};
    bool is_parsed = curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK &&
                     curl_url_get(handle, CURLUPART_SCHEME, &out->scheme, 0) == CURLUE_OK &&
                     curl_url_get(handle, CURLUPART_HOST, &out->host, 0) == CURLUE_OK &&
                     curl_url_get(handle, CURLUPART_PORT, &out->port, CURLU_DEFAULT_PORT) == CURLUE_OK;
    curl_url_cleanup(handle);
    return is_parsed;
}

static void free_origin(origin *one) {
    curl_free(one->scheme);
    curl_free(one->host);
    curl_free(one->port);
}

static bool is_followable(const nc_redirect_question *question) {
    uint16_t status = question->status;
    return (status == 301 || status == 302 || status == 303 || status == 307 || status == 308) &&
           question->location.length > 0 && question->choice != NC_REDIRECTS_RETURN;
}

static void check_followed(const nc_redirect_decision *answer, const nc_buf *url, const nc_redirect_question *question,
                           const char *requested_url) {
    nc_request next = {.url = nc_buf_slice(url)};
    nc_error err;
    origin from = {0};
    origin to = {0};
    CHECK(is_followable(question));
    CHECK(question->followed < question->max_redirects && question->max_redirects != NC_NO_REDIRECTS);
    // The next URL must be valid as the URL of a request.
    CHECK(nc_request_check(&next, &err) == NC_OK);
    CHECK(!holds_any(next.url, "\r\n "));
    CHECK(url->capacity > url->length && url->data[url->length] == '\0');
    bool is_parsed = parse_origin(&from, requested_url) && parse_origin(&to, (const char *)url->data);
    if (!is_parsed) { // libcurl rejects this host in a request
        free_origin(&from);
        free_origin(&to);
        return;
    }
    CHECK(to.host[0] != '\0');
    bool is_secure = strcmp(to.scheme, "https") == 0;
    CHECK(is_secure || strcmp(to.scheme, "http") == 0);
    CHECK(is_secure || strcmp(from.scheme, "https") != 0 || question->choice == NC_REDIRECTS_FOLLOW_DOWNGRADE);
    bool is_same =
        strcmp(from.scheme, to.scheme) == 0 && strcasecmp(from.host, to.host) == 0 && strcmp(from.port, to.port) == 0;
    // libcurl distinguishes two spellings of one host.
    CHECK(!answer->changes_origin || !is_same);
    bool drops = question->status == 303 ? !question->is_head : question->status < 303 && question->is_post;
    CHECK(answer->becomes_get == drops);
    const char *fragment = strchr(requested_url, '#');
    if (fragment != NULL && memchr(question->location.data, '#', question->location.length) == NULL) {
        size_t length = strlen(fragment);
        CHECK(url->length >= length && memcmp(url->data + url->length - length, fragment, length) == 0);
    }
    free_origin(&from);
    free_origin(&to);
}

/// Checks that adding the requested URL's credentials to the next URL changes nothing else.
static void check_credentials(nc_buf *url, const char *requested_url) {
    nc_error err = {.status = NC_OK, .offset = -1};
    origin from = {0};
    origin to = {0};
    size_t length = url->length;
    nc_status status = nc_redirect_keep_credentials(url, nc_slice_of(requested_url), &err);
    CHECK(status == NC_OK || (status == NC_ERR_BAD_REDIRECT && url->length == length));
    CHECK(url->length >= length && url->length <= NC_URL_MAX_BYTES && url->data[url->length] == '\0');
    nc_request next = {.url = nc_buf_slice(url)};
    CHECK(nc_request_check(&next, &err) == NC_OK);
    bool is_parsed = parse_origin(&from, requested_url) && parse_origin(&to, (const char *)url->data);
    CHECK(!is_parsed || (strcmp(from.scheme, to.scheme) == 0 && strcmp(from.port, to.port) == 0));
    free_origin(&from);
    free_origin(&to);
}

static void check_decision(const nc_redirect_question *question, const char *requested_url) {
    nc_redirect_decision answer;
    nc_buf url = nc_buf_init(2 * NC_URL_MAX_BYTES);
    nc_error err = {.status = NC_OK, .offset = -1};
    nc_status status = nc_redirect_decide(&answer, &url, question, &err);
    bool is_spent = question->max_redirects == NC_NO_REDIRECTS || question->followed >= question->max_redirects;
    if (status != NC_OK) {
        check_error(&err, status, question->location.length);
        CHECK(is_followable(question) && !answer.is_redirect);
        CHECK(status == NC_ERR_TOO_MANY_REDIRECTS || status == NC_ERR_REDIRECT_REFUSED ||
              status == NC_ERR_BAD_REDIRECT);
        CHECK((status == NC_ERR_TOO_MANY_REDIRECTS) == is_spent);
    } else if (answer.is_redirect) {
        check_followed(&answer, &url, question, requested_url);
        if (!answer.changes_origin) {
            check_credentials(&url, requested_url);
        }
    } else {
        CHECK(!is_followable(question) && url.length == 0 && !answer.becomes_get && !answer.changes_origin);
    }
    nc_buf_deinit(&url);
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc;
    (void)argv;
    memory_count_blocks();
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    input in = input_init(data, size);
    nc_redirect_question question = {.status = statuses[input_byte(&in) % (sizeof statuses / sizeof *statuses)]};
    uint8_t flags = input_byte(&in);
    question.is_head = (flags & 1) != 0;
    question.is_post = (flags & 2) != 0 && !question.is_head;
    question.choice = (nc_redirect_choice)((flags >> 2) % 3);
    question.keeps_dot_segments = (flags & 0x40) != 0;
    question.followed = input_byte(&in);
    question.max_redirects = (flags & 0x80) != 0 ? NC_NO_REDIRECTS : input_byte(&in);
    question.url = input_piece(&in);
    question.location = input_rest(&in);
    nc_request first = {.url = question.url};
    nc_error err;
    if (nc_request_check(&first, &err) == NC_OK) {
        nc_buf requested_url = nc_buf_init(NC_URL_MAX_BYTES + 1);
        nc_buf_append(&requested_url, question.url);
        nc_buf_append_byte(&requested_url, 0);
        check_decision(&question, (const char *)requested_url.data);
        nc_buf_deinit(&requested_url);
    }
    input_deinit(&in);
    CHECK(memory_live_blocks() == 0);
    return 0;
}
