/// Negotiate (RFC 4559) authenticates a connection, not a request, so other users must not share it. The test
/// provides its own GSS-API for libcurl, with its own tickets.
#include "fixture.h"

#include <string.h>

/* --- a GSS-API (RFC 2744) whose one token is "me" --- */

typedef struct gss_text {
    size_t length;
    void *bytes;
} gss_text;

#define GSS_EXPORT __attribute__((visibility("default"))) uint32_t

GSS_EXPORT gss_import_name(uint32_t *minor, const gss_text *text, void *type, void **name);
GSS_EXPORT gss_release_name(uint32_t *minor, void **name);
GSS_EXPORT gss_init_sec_context(uint32_t *minor, void *identity, void **context, void *name, void *mechanism,
                                uint32_t flags, uint32_t time_s, void *bindings, const gss_text *got, void **used,
                                gss_text *out, uint32_t *out_flags, uint32_t *out_time_s);
GSS_EXPORT gss_delete_sec_context(uint32_t *minor, void **context, gss_text *out);
GSS_EXPORT gss_release_buffer(uint32_t *minor, gss_text *text);

static char something;

uint32_t gss_import_name(uint32_t *minor, const gss_text *text, void *type, void **name) {
    (void)text, (void)type;
    *minor = 0;
    *name = &something;
    return 0;
}

uint32_t gss_release_name(uint32_t *minor, void **name) {
    *minor = 0;
    *name = NULL;
    return 0;
}

uint32_t gss_init_sec_context(uint32_t *minor, void *identity, void **context, void *name, void *mechanism,
                              uint32_t flags, uint32_t time_s, void *bindings, const gss_text *got, void **used,
                              gss_text *out, uint32_t *out_flags, uint32_t *out_time_s) {
    static char token[] = "me";
    (void)identity, (void)name, (void)mechanism, (void)flags, (void)time_s, (void)bindings, (void)got, (void)used;
    (void)out_flags, (void)out_time_s;
    *minor = 0;
    *context = &something;
    *out = (gss_text){.length = sizeof token - 1, .bytes = token};
    return 0;
}

uint32_t gss_delete_sec_context(uint32_t *minor, void **context, gss_text *out) {
    (void)out;
    *minor = 0;
    *context = NULL;
    return 0;
}

uint32_t gss_release_buffer(uint32_t *minor, gss_text *text) {
    *minor = 0;
    *text = (gss_text){0};
    return 0;
}

/* --- cases --- */

static nc_request request_of(fixture *f, const char *path, uint32_t schemes, const char *user) {
    nc_request request = fixture_request(f, path);
    request.credentials = (nc_credentials){.schemes = schemes, .user = nc_slice_of(user)};
    return request;
}

/// The first request's connection is open when the others come.
static void engine__an_authenticated_negotiate_connection_is_not_shared_with_other_users(void **state) {
    fixture f;
    (void)state;
    if (!nc_capabilities_query().has_negotiate) {
        return;
    }
    fixture_start(&f, NCT_PLAIN);
    fixture_script(&f, "/mine", (nct_reply){.body = "secret", .body_length = 6});
    fixture_script(&f, "/anybodys", (nct_reply){.body = "ok", .body_length = 2});
    nc_request mine = request_of(&f, "/mine", NC_AUTH_NEGOTIATE, "me");
    assert_response(fixture_send(&f, &mine), 200, "secret");
    assert_non_null(strstr(fixture_received(&f, 0), "Authorization: Negotiate bWU=\r\n"));
    assert_int_equal(nct_server_connection_count(f.server), 1);
    nc_request others[] = {
        request_of(&f, "/anybodys", 0, ""),
        request_of(&f, "/anybodys", NC_AUTH_BASIC, "you"),
        request_of(&f, "/anybodys", NC_AUTH_NEGOTIATE, "you"),
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        answer got = fixture_send(&f, &others[i]);
        assert_response(got, 200, "ok");
        assert_int_not_equal(nc_response_hop_at(got.response, 0).connection_id, 1);
    }
    answer again = fixture_send(&f, &mine);
    assert_response(again, 200, "secret");
    assert_int_equal(nc_response_hop_at(again.response, 0).connection_id, 1);
    fixture_stop(&f);
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(engine__an_authenticated_negotiate_connection_is_not_shared_with_other_users),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
