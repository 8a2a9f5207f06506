#include "scripted.h"

#include "coded.h"

#include <dirent.h>
#include <netcore/transfers.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { UPLOAD_BYTES = 60000, PAGE_BYTES = 30000, PULL_BYTES = 9000, MAX_RESTS = 2 };

static const char *const names[SCENARIO_TRANSFERS] = {"pulled", "filed",   "digest",  "zipped", "returned",
                                                      "tunnel", "limited", "refused", "hunted"};

const char *scenario_name(scenario_kind kind) {
    return kind < SCENARIO_TRANSFERS ? names[kind] : "none";
}

/* --- servers and files --- */

static void write_file(const char *path, nc_slice bytes) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.length, file), bytes.length);
    assert_int_equal(fclose(file), 0);
}

static nc_buf pattern(size_t length, bool is_page) {
    nc_buf buf = nc_buf_init(length);
    for (size_t i = 0; i < length; i++) {
        nc_buf_append_byte(&buf, is_page ? (uint8_t)('a' + i % 26) : (uint8_t)torture_mix(i, 1));
    }
    assert_status(nc_buf_status(&buf), NC_OK);
    return buf;
}

/// Scripts the replies that every exchange shares.
static void script_for_good(scenario_servers *stage) {
    const nct_reply page = {.pattern_length = PAGE_BYTES,
                            .chunk_bytes = 5000,
                            .headers = "Set-Cookie: a=1; Max-Age=1000\r\n",
                            .trailers = "X-Sum: 1\r\n"};
    const nct_reply moved = {.status = 307, .location = "/page"};
    const nct_reply downgrade = {.location = "http://127.0.0.1/"};
    const nct_reply stalled = {.is_cut = true, .ending = NCT_STALL};
    const nct_reply echo = {.is_echo = true};
    const nct_reply zipped = {.headers = "Content-Encoding: gzip\r\n",
                              .body = stage->zipped.data,
                              .body_length = stage->zipped.length,
                              .chunk_bytes = 700};
    assert_int_equal(nct_server_script(stage->tls, "/page", &page), 0);
    assert_int_equal(nct_server_script(stage->tls, "/moved", &moved), 0);
    assert_int_equal(nct_server_script(stage->tls, "/downgrade", &downgrade), 0);
    assert_int_equal(nct_server_script(stage->tls, "/zipped", &zipped), 0);
    assert_int_equal(nct_server_script(stage->plain, "/zipped", &zipped), 0);
    assert_int_equal(nct_server_script(stage->plain, "/stalled", &stalled), 0);
    assert_int_equal(nct_server_script(stage->plain, "/echo", &echo), 0);
}

void scenario_start(scenario_servers *stage) {
    *stage = (scenario_servers){.directory = "/tmp/netcore-scripted-XXXXXX"};
    assert_non_null(mkdtemp(stage->directory));
    (void)snprintf(stage->upload_path, sizeof stage->upload_path, "%s/upload", stage->directory);
    (void)snprintf(stage->saved_path, sizeof stage->saved_path, "%s/saved", stage->directory);
    (void)snprintf(stage->jar_path, sizeof stage->jar_path, "%s/jar", stage->directory);
    stage->upload = pattern(UPLOAD_BYTES, false);
    stage->page = pattern(PAGE_BYTES, true);
    stage->zipped = encoded_deflate(nc_buf_slice(&stage->upload), ENCODED_GZIP);
    write_file(stage->upload_path, nc_buf_slice(&stage->upload));
    stage->plain = torture_start(NCT_PLAIN);
    stage->tls = torture_start(NCT_TLS_VALID);
    assert_int_equal(nct_proxy_start(&stage->proxy, NULL), 0);
    stage->trust = torture_trust(stage->tls);
    script_for_good(stage);
}

void scenario_stop(scenario_servers *stage) {
    nc_trust_release(stage->trust);
    nct_proxy_stop(stage->proxy);
    nct_server_stop(stage->tls);
    nct_server_stop(stage->plain);
    nc_buf_deinit(&stage->upload);
    nc_buf_deinit(&stage->page);
    nc_buf_deinit(&stage->zipped);
    (void)unlink(stage->upload_path);
    (void)unlink(stage->saved_path);
    (void)unlink(stage->jar_path);
    assert_int_equal(rmdir(stage->directory), 0);
}

nc_engine *scenario_engine(const scenario_servers *stage, nc_trace trace, nc_loop_client client) {
    nc_engine *engine = NULL;
    // If the jar already had the cookie, it would not change, and the engine would not pass that trace point.
    (void)unlink(stage->jar_path);
    const nc_engine_options options = {.trust = stage->trust,
                                       .cookies = NC_COOKIES_FILE,
                                       .cookie_file = nc_slice_of(stage->jar_path),
                                       .trace = trace,
                                       .loop_client = client};
    assert_status(nc_engine_new(&engine, &options, NULL), NC_OK);
    return engine;
}

/* --- callbacks on the loop thread --- */

static nc_pull pull(void *ctx, nc_transfer_id id, uint8_t *bytes, size_t capacity, size_t *filled) {
    scenario_transfer *part = ctx;
    nc_slice all = nc_buf_slice(&part->stage->upload);
    if (part->sent >= all.length / 2 && !part->has_been_late) {
        part->has_been_late = true;
        nc_engine_resume(part->engine, id); // The loop reads the command after this callback.
        return NC_PULL_LATER;
    }
    size_t left = all.length - part->sent;
    size_t length = left < capacity ? left : capacity;
    length = length < PULL_BYTES ? length : PULL_BYTES;
    memcpy(bytes, all.data + part->sent, length);
    part->sent += length;
    *filled = length;
    return part->sent == all.length ? NC_PULL_END : NC_PULL_MORE;
}

static bool rewind_source(void *ctx, nc_transfer_id id, uint64_t offset) {
    scenario_transfer *part = ctx;
    (void)id;
    part->sent = offset;
    return true;
}

static nc_action on_body(void *ctx, nc_transfer_id id, nc_slice bytes) {
    scenario_transfer *part = ctx;
    nc_slice all = nc_buf_slice(&part->stage->upload);
    if (bytes.length > all.length - part->received ||
        memcmp(bytes.data, all.data + part->received, bytes.length) != 0) {
        part->is_wrong = true;
        return NC_ACTION_STOP;
    }
    part->received += bytes.length;
    if (part->rests < MAX_RESTS) {
        part->rests++;
        nc_engine_resume(part->engine, id);
        return NC_ACTION_PAUSE;
    }
    return NC_ACTION_CONTINUE;
}

/* --- the parts --- */

static const char *const paths[SCENARIO_TRANSFERS] = {
    [SCENARIO_PULLED] = "/moved",    [SCENARIO_FILED] = "/echo",        [SCENARIO_DIGEST] = "/secret",
    [SCENARIO_ZIPPED] = "/zipped",   [SCENARIO_RETURNED] = "/zipped",   [SCENARIO_TUNNEL] = "/page",
    [SCENARIO_LIMITED] = "/stalled", [SCENARIO_CANCELLED] = "/stalled", [SCENARIO_REFUSED] = "/downgrade",
};

static bool is_tls(scenario_kind kind) {
    return kind == SCENARIO_PULLED || kind == SCENARIO_ZIPPED || kind == SCENARIO_TUNNEL || kind == SCENARIO_REFUSED;
}

static bool is_read_piecewise(scenario_kind kind) {
    return kind == SCENARIO_ZIPPED || kind == SCENARIO_RETURNED;
}

static void describe(nc_request *request, scenario_transfer *part, const nc_proxy *proxy) {
    const scenario_servers *stage = part->stage;
    switch (part->kind) {
    case SCENARIO_PULLED:
        request->method = nc_slice_of("POST");
        request->body_source = (nc_body_source){.ctx = part, .pull = pull, .seek = rewind_source};
        request->body_length = stage->upload.length;
        break;
    case SCENARIO_FILED:
        request->method = nc_slice_of("PUT");
        request->body_file = nc_slice_of(stage->upload_path);
        request->save_path = nc_slice_of(stage->saved_path);
        request->proxy = proxy;
        break;
    case SCENARIO_DIGEST:
        request->credentials =
            (nc_credentials){.schemes = NC_AUTH_DIGEST, .user = nc_slice_of("me"), .password = nc_slice_of("secret")};
        break;
    case SCENARIO_RETURNED:
        request->method = nc_slice_of("POST");
        request->body_file = nc_slice_of(stage->upload_path);
        request->accepts_codings = true;
        break;
    case SCENARIO_ZIPPED:
        request->accepts_codings = true;
        break;
    case SCENARIO_TUNNEL:
        request->proxy = proxy;
        break;
    case SCENARIO_LIMITED:
        request->limits.first_byte_ms = 1;
        break;
    default:
        break;
    }
}

static bool submit(scenario_transfer *part) {
    char url[TORTURE_URL_BYTES];
    char proxy_url[TORTURE_URL_BYTES];
    const scenario_servers *stage = part->stage;
    (void)snprintf(proxy_url, sizeof proxy_url, "http://127.0.0.1:%u", nct_proxy_port(stage->proxy));
    const nc_proxy proxy = {.choice = NC_PROXY_URL, .url = nc_slice_of(proxy_url)};
    bool is_secure = is_tls(part->kind);
    nc_request request = {.url = torture_url(url, is_secure ? "https" : "http", is_secure ? stage->tls : stage->plain,
                                             paths[part->kind])};
    describe(&request, part, &proxy);
    nc_sink sink = torture_sink(&part->fetch);
    sink.on_body = is_read_piecewise(part->kind) ? on_body : NULL;
    return nc_engine_submit(part->engine, &request, &sink, &part->id, NULL) == NC_OK;
}

size_t scenario_submit(scenario_servers *stage, nc_engine *engine, scenario_transfer parts[SCENARIO_TRANSFERS]) {
    const nct_reply challenge[] = {
        {.status = 401, .headers = "WWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=\"auth\"\r\n"},
        {.body = "in", .body_length = 2},
    };
    assert_int_equal(nct_server_script_sequence(stage->plain, "/secret", challenge, 2), 0);
    nct_server_forget(stage->plain);
    nct_server_forget(stage->tls);
    size_t count = 0;
    for (; count < SCENARIO_TRANSFERS; count++) {
        scenario_transfer *part = &parts[count];
        *part = (scenario_transfer){.stage = stage, .engine = engine, .kind = (scenario_kind)count};
        part->fetch.keeps_response = true;
        if (!submit(part)) {
            break;
        }
    }
    return count;
}

void scenario_transfer_deinit(scenario_transfer *part) {
    nc_response_release(part->fetch.response);
    part->fetch.response = NULL;
}

/* --- expected results --- */

static nc_status expected_status(scenario_kind kind) {
    switch (kind) {
    case SCENARIO_LIMITED:
        return NC_ERR_FIRST_BYTE_TIMED_OUT;
    case SCENARIO_REFUSED:
        return NC_ERR_REDIRECT_REFUSED;
    case SCENARIO_CANCELLED:
        return NC_ERR_CANCELLED;
    default:
        return NC_OK;
    }
}

static bool is_saved_whole(const scenario_servers *stage) {
    static uint8_t bytes[UPLOAD_BYTES + 1];
    FILE *file = fopen(stage->saved_path, "rb");
    if (file == NULL) {
        return false;
    }
    size_t length = fread(bytes, 1, sizeof bytes, file);
    (void)fclose(file);
    return nc_slice_is_equal(nc_slice_make(bytes, length), nc_buf_slice(&stage->upload));
}

static bool is_right(const scenario_transfer *part) {
    const nc_response *response = part->fetch.response;
    nc_slice body = nc_response_body(response);
    if (nc_response_status(response) != 200 || part->is_wrong) {
        return false;
    }
    switch (part->kind) {
    case SCENARIO_PULLED:
        return nc_response_hop_count(response) == 2 && nc_slice_is_equal(body, nc_buf_slice(&part->stage->page));
    case SCENARIO_TUNNEL:
        return nc_slice_is_equal(body, nc_buf_slice(&part->stage->page));
    case SCENARIO_FILED:
        return is_saved_whole(part->stage);
    case SCENARIO_DIGEST:
        return nc_slice_is_equal(body, nc_slice_of("in"));
    default:
        return part->received == part->stage->upload.length;
    }
}

void scenario_check(const scenario_transfer *part, bool may_be_cancelled, const char *when) {
    nc_status status = part->fetch.status;
    const char *name = names[part->kind];
    size_t ends = atomic_load(&part->fetch.done_count);
    if (ends != 1) {
        fail_msg("%s%s: %zu ends", name, when, ends);
    }
    if (status != expected_status(part->kind) && !(may_be_cancelled && status == NC_ERR_CANCELLED)) {
        fail_msg("%s%s: ended with %s, %s", name, when, nc_status_name(status), part->fetch.message);
    }
    if (status == NC_OK && !is_right(part)) {
        fail_msg("%s%s: a success with status %u and %zu bytes", name, when, nc_response_status(part->fetch.response),
                 nc_response_body(part->fetch.response).length);
    }
    if (part->is_wrong) {
        fail_msg("%s%s: the reader got wrong bytes", name, when);
    }
}

void scenario_check_files(const scenario_servers *stage) {
    DIR *directory = opendir(stage->directory);
    assert_non_null(directory);
    for (struct dirent *entry = readdir(directory); entry != NULL; entry = readdir(directory)) {
        if (entry->d_name[0] != '.' && strcmp(entry->d_name, "upload") != 0 && strcmp(entry->d_name, "saved") != 0 &&
            strcmp(entry->d_name, "jar") != 0) {
            fail_msg("'%s' was left behind", entry->d_name);
        }
    }
    closedir(directory);
    (void)unlink(stage->saved_path);
}
