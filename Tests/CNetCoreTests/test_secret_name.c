/// Which names of fields, parameters, members and cookies count as secrets.
#include "harness.h"

#include <netcore/secret_name.h>
#include <string.h>

static void assert_matches(const char *name, nc_secret_location place, bool wanted) {
    if (nc_secret_name_matches(nc_slice_of(name), place) != wanted) {
        fail_msg("'%s' is %s as a name of kind %d", name, wanted ? "no secret" : "a secret", (int)place);
    }
}

static void assert_everywhere(const char *const *names, size_t count, bool wanted) {
    for (size_t i = 0; i < count; i++) {
        for (int place = NC_SECRET_FIELD; place <= NC_SECRET_COOKIE; place++) {
            assert_matches(names[i], (nc_secret_location)place, wanted);
        }
    }
}

#define COUNT(list) (sizeof(list) / sizeof *(list))

static void secret_name__an_authenticating_field_is_secret(void **state) {
    (void)state;
    static const char *const names[] = {"Authorization",
                                        "Proxy-Authorization",
                                        "Cookie",
                                        "Set-Cookie",
                                        "X-Api-Key",
                                        "X-Auth-Token",
                                        "Private-Token",
                                        "X-Vault-Token",
                                        "X-Amz-Security-Token",
                                        "Cf-Access-Jwt-Assertion",
                                        "X-Goog-IAP-JWT-Assertion",
                                        "X-Amzn-Oidc-Data",
                                        "X-Amzn-Oidc-Accesstoken",
                                        "X-Amzn-Oidc-Identity",
                                        "X-Forwarded-Access-Token",
                                        "X-JWT-Assertion",
                                        "X-Auth-Request-Access-Tokens",
                                        "X-Api-Token",
                                        "X-Pass",
                                        "X-Apikey-Value",
                                        "Api_Key_Id",
                                        "X-PIN-Code",
                                        "X-OTP-Code",
                                        "DPoP",
                                        "X-Functions-Key",
                                        "Ocp-Apim-Subscription-Key",
                                        "x-rapidapi-key",
                                        "DD-API-KEY",
                                        "X-MBX-APIKEY",
                                        "X-Shopify-Access-Token",
                                        "X-CSRF-Token",
                                        "X-XSRF-TOKEN",
                                        "X-Hub-Signature-256",
                                        "X-Ms-Client-Principal",
                                        "X-Ms-Token-Aad-Id-Token",
                                        "X-Userinfo",
                                        "X-Custom-Auth",
                                        "X-Authentication",
                                        "Sec-Token-Binding",
                                        "X-Plex-Token",
                                        "apikey",
                                        "Api-Key",
                                        "X-2FA-Code"};
    assert_everywhere(names, COUNT(names), true);
}

static void secret_name__an_authenticating_parameter_is_secret(void **state) {
    (void)state;
    static const char *const names[] = {"access_token",
                                        "id_token",
                                        "refresh_token",
                                        "id_token_hint",
                                        "code_verifier",
                                        "client_assertion",
                                        "assertion",
                                        "SAMLResponse",
                                        "SAMLRequest",
                                        "SAMLart",
                                        "samlresponse",
                                        "device_code",
                                        "user_code",
                                        "auth_code",
                                        "sig",
                                        "signature",
                                        "X-Amz-Signature",
                                        "X-Amz-Credential",
                                        "X-Goog-Signature",
                                        "AWSAccessKeyId",
                                        "OSSAccessKeyId",
                                        "key",
                                        "api_key",
                                        "apiKey",
                                        "APIKey",
                                        "api.key",
                                        "pass",
                                        "password",
                                        "passwd",
                                        "pwd",
                                        "passphrase",
                                        "sid",
                                        "sessid",
                                        "PHPSESSID",
                                        "jsessionid",
                                        "JSESSIONID",
                                        "ASP.NET_SessionId",
                                        "ASPSESSIONIDQQABC",
                                        "connect.sid",
                                        "laravel_session",
                                        "ci_session",
                                        "rack.session",
                                        "MoodleSession",
                                        "__Host-session",
                                        "__Secure-next-auth.session-token",
                                        "remember_user_token",
                                        "remember_me",
                                        "wordpress_logged_in_1a2b",
                                        "SESS49960de5880e8c687434170f6476605b",
                                        "otp",
                                        "totp",
                                        "pin",
                                        "user[pin]",
                                        "users[0][password]",
                                        "jwt",
                                        "client_secret",
                                        "clientSecret",
                                        "my-secret-value",
                                        "newPassword",
                                        "password2",
                                        "passwordConfirmation",
                                        "oauth_signature",
                                        "oauth_verifier",
                                        "oauth_token",
                                        "csrfmiddlewaretoken",
                                        "authenticity_token",
                                        "accesstoken",
                                        "authtoken",
                                        "sessionToken",
                                        "tokenValue",
                                        "tokenvalue",
                                        "private_key",
                                        "privateKey",
                                        "secretkey",
                                        "hmac",
                                        "userpin",
                                        "basicauth",
                                        "AcCeSsToKeN",
                                        "PaSsWoRd",
                                        "TOKEN",
                                        "ToKeN",
                                        "verification_code",
                                        "cvv",
                                        "api_keys"};
    assert_everywhere(names, COUNT(names), true);
}

static void secret_name__a_name_that_resembles_a_secret_is_not_secret(void **state) {
    (void)state;
    static const char *const names[] = {"monkey",
                                        "donkey",
                                        "turkey",
                                        "hockey",
                                        "Idempotency-Key",
                                        "idempotency_key",
                                        "idempotencyKey",
                                        "keyword",
                                        "keywords",
                                        "keyboard",
                                        "keynote",
                                        "keys",
                                        "key_count",
                                        "primary_key",
                                        "sortKey",
                                        "public_key",
                                        "Surrogate-Key",
                                        "Sec-WebSocket-Key",
                                        "Public-Key-Pins",
                                        "tokenizer",
                                        "tokenize",
                                        "Tokenization",
                                        "detokenizer",
                                        "max_tokens",
                                        "prompt_tokens",
                                        "totalTokens",
                                        "token_type",
                                        "token_endpoint",
                                        "author",
                                        "authority",
                                        "authors",
                                        "design",
                                        "signal",
                                        "signup",
                                        "assignment",
                                        "assigned",
                                        "passenger",
                                        "compass",
                                        "bypass",
                                        "passport",
                                        "passive",
                                        "passed",
                                        "opinion",
                                        "shipping",
                                        "spinner",
                                        "pinned",
                                        "pineapple",
                                        "spin",
                                        "secretary",
                                        "secretariat",
                                        "obsession",
                                        "possession",
                                        "president",
                                        "residence",
                                        "side",
                                        "inside",
                                        "country_code",
                                        "status_code",
                                        "zipcode",
                                        "postal_code",
                                        "errorCode",
                                        "encode",
                                        "decoder",
                                        "barcode",
                                        "codec",
                                        "tickets",
                                        "Accept",
                                        "Accept-Language",
                                        "Content-Type",
                                        "Content-Security-Policy",
                                        "ETag",
                                        "Location",
                                        "Host",
                                        "Date",
                                        "page",
                                        "limit",
                                        "q",
                                        "name",
                                        "Access-Control-Allow-Credentials",
                                        "WWW-Authenticate",
                                        "Authentication-Info",
                                        "X-Request-Id",
                                        "User-Agent",
                                        "X-Amz-Date",
                                        "X-Amz-Expires",
                                        "grant_type",
                                        "client_id",
                                        "redirect_uri",
                                        "scope",
                                        "state",
                                        "",
                                        "-",
                                        "[]",
                                        "1"};
    assert_everywhere(names, COUNT(names), false);
}

static void secret_name__a_name_may_be_secret_in_a_url_and_not_in_json(void **state) {
    (void)state;
    static const char *const names[] = {"code", "Code", "ticket"};
    for (size_t i = 0; i < COUNT(names); i++) {
        assert_matches(names[i], NC_SECRET_PARAMETER, true);
        assert_matches(names[i], NC_SECRET_MEMBER, false);
        assert_matches(names[i], NC_SECRET_FIELD, false);
    }
}

static void secret_name__names_of_any_bytes_and_length_are_checked(void **state) {
    (void)state;
    char name[1500];
    memset(name, 'a', sizeof name);
    assert_false(nc_secret_name_matches(nc_slice_make(name, 1024), NC_SECRET_FIELD));
    assert_true(nc_secret_name_matches(nc_slice_make(name, 1025), NC_SECRET_FIELD));
    memcpy(name + 1024 - 6, "-token", 6);
    assert_true(nc_secret_name_matches(nc_slice_make(name, 1024), NC_SECRET_FIELD));
    for (size_t i = 0; i < 1000; i += 2) {
        memcpy(name + i, "a-", 2);
    }
    assert_true(nc_secret_name_matches(nc_slice_make(name, 1024), NC_SECRET_FIELD));
    for (int byte = 0; byte < 256; byte++) {
        char other[] = {'x', (char)byte, 'y'};
        assert_false(nc_secret_name_matches(nc_slice_make(other, sizeof other), NC_SECRET_FIELD));
    }
    assert_true(nc_secret_name_matches(nc_slice_of("t\xc3\xa9st_token"), NC_SECRET_MEMBER));
    assert_false(nc_secret_name_matches((nc_slice){0}, NC_SECRET_FIELD));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(secret_name__an_authenticating_field_is_secret),
        harness_case(secret_name__an_authenticating_parameter_is_secret),
        harness_case(secret_name__a_name_that_resembles_a_secret_is_not_secret),
        harness_case(secret_name__a_name_may_be_secret_in_a_url_and_not_in_json),
        harness_case(secret_name__names_of_any_bytes_and_length_are_checked),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
