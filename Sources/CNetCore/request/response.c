#include "request/response.h"

#include "base/alloc.h"
#include "base/pool.h"
#include "http/url_text.h"

#include <stdatomic.h>
#include <string.h>

struct nc_response {
    atomic_uint references;
    uint16_t status;
    nc_http_version http_version;
    bool is_close_delimited;
    bool repeats_hop;
    nc_pool *pool;
    nc_block text; // the URLs of the hops, then the fields of the last head
    size_t head_at;
    nc_block body;
    nc_slice shared_body; // used instead of `body` if it has an owner
    void *shared_owner;
    void (*release_owner)(void *owner);
    size_t announced_bytes; // the body's announced length, limited to the address space
    size_t field_count;     // number of header fields
    size_t trailer_count;   // number of trailer fields, which follow the header fields
    nc_field inline_fields[NC_INLINE_FIELDS];
    nc_block more_fields;
    size_t hop_count;
    nc_hop first_hop;
    nc_block more_hops;
    nc_trust_result *trust_result; // of a rejected certificate; NULL without one
    nc_json *json_check;           // of the body; NULL without an expectation
    bool is_checked;
};

/// The maximum number of bytes reserved because of a Content-Length. For more memory, bytes must have arrived.
static const size_t max_expected_bytes = 1024u * 1024u;

/// The growth factor for an announced body. A large factor means few moves, and the unused memory is never touched.
static const size_t announced_growth = 8;

nc_response *nc_response_new(nc_pool *pool) {
    nc_response *response = nc_pool_acquire(pool, sizeof *response);
    if (response != NULL) {
        *response = (nc_response){0};
        atomic_init(&response->references, 1);
        response->pool = nc_pool_retain(pool);
    }
    return response;
}

nc_response *nc_response_retain(nc_response *response) {
    atomic_fetch_add_explicit(&response->references, 1, memory_order_relaxed);
    return response;
}

void nc_response_release(nc_response *response) {
    if (response == NULL || atomic_fetch_sub_explicit(&response->references, 1, memory_order_acq_rel) != 1) {
        return;
    }
    nc_pool *pool = response->pool;
    nc_block_deinit(&response->text, pool);
    nc_response_drop_body(response);
    nc_block_deinit(&response->body, pool);
    nc_block_deinit(&response->more_fields, pool);
    nc_block_deinit(&response->more_hops, pool);
    nc_free(response->trust_result);
    nc_json_free(response->json_check);
    nc_pool_put(pool, response, sizeof *response);
    nc_pool_release(pool);
}

const nc_trust_result *nc_response_trust_result(const nc_response *response) {
    return response->trust_result;
}

/* --- filling --- */

static nc_hop *hop_at(const nc_response *response, size_t index) {
    if (index == 0) {
        return (nc_hop *)&response->first_hop;
    }
    return (nc_hop *)(void *)response->more_hops.data + (index - 1);
}

static void forget_hop(nc_response *response) {
    nc_hop *hop = hop_at(response, --response->hop_count);
    response->head_at = hop->url_at;
    response->more_hops.length -= response->hop_count > 0 ? sizeof *hop : 0;
    *hop = (nc_hop){.url_at = 0};
    response->repeats_hop = false;
    nc_free(response->trust_result); // of a certificate that the hop rejected
    response->trust_result = NULL;
}

void nc_response_repeat_hop(nc_response *response) {
    response->repeats_hop = true;
}

nc_status nc_response_begin_hop(nc_response *response, const nc_url *url) {
    static const nc_hop empty;
    const uint8_t *userinfo = url->parts.userinfo.data;
    size_t credentials_at = url->parts.has_userinfo ? (size_t)(userinfo - url->text.data) : 0;
    size_t credentials_length = url->parts.has_userinfo ? url->parts.userinfo.length + 1 : 0;
    if (response->repeats_hop) {
        forget_hop(response);
    }
    nc_response_begin_head(response, 0, NC_HTTP_VERSION_UNKNOWN);
    nc_response_drop_body(response);
    size_t tail_at = credentials_at + credentials_length;
    nc_slice tail = nc_slice_make(url->text.data + tail_at, url->text.length - tail_at);
    if (nc_block_append(&response->text, response->pool, nc_slice_make(url->text.data, credentials_at)) != NC_OK ||
        nc_block_append(&response->text, response->pool, tail) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    if (response->hop_count > 0 &&
        nc_block_append(&response->more_hops, response->pool, nc_slice_make(&empty, sizeof empty)) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    nc_hop *hop = hop_at(response, response->hop_count++);
    hop->url_at = (uint32_t)response->head_at;
    hop->url_length = (uint32_t)(response->text.length - response->head_at);
    response->head_at = response->text.length;
    return NC_OK;
}

nc_hop_metrics *nc_response_hop(nc_response *response) {
    return response->hop_count > 0 ? &hop_at(response, response->hop_count - 1)->metrics : NULL;
}

void nc_response_begin_head(nc_response *response, uint16_t status, nc_http_version version) {
    response->status = status;
    response->http_version = version;
    response->is_close_delimited = false;
    response->field_count = 0;
    response->trailer_count = 0;
    response->more_fields.length = 0;
    response->text.length = response->head_at;
}

static nc_field *field_at(const nc_response *response, size_t index) {
    if (index < NC_INLINE_FIELDS) {
        return (nc_field *)&response->inline_fields[index];
    }
    return (nc_field *)(void *)response->more_fields.data + (index - NC_INLINE_FIELDS);
}

/// Adds a field. Name and value are in the same line, so one copy contains both and the bytes in between.
static nc_status add_line(nc_response *response, nc_slice name, nc_slice value) {
    size_t gap = (size_t)(value.data - name.data);
    nc_field field = {
        .name_at = (uint32_t)response->text.length,
        .name_length = (uint32_t)name.length,
        .value_at = (uint32_t)(response->text.length + gap),
        .value_length = (uint32_t)value.length,
    };
    nc_slice line = nc_slice_make(name.data, gap + value.length);
    if (nc_block_append(&response->text, response->pool, line) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    size_t place = response->field_count + response->trailer_count;
    if (place < NC_INLINE_FIELDS) {
        response->inline_fields[place] = field;
    } else if (nc_block_append(&response->more_fields, response->pool, nc_slice_make(&field, sizeof field)) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    return NC_OK;
}

nc_status nc_response_add_field(nc_response *response, nc_slice name, nc_slice value) {
    nc_status status = add_line(response, name, value);
    response->field_count += status == NC_OK ? 1 : 0;
    return status;
}

nc_status nc_response_add_trailer(nc_response *response, nc_slice name, nc_slice value) {
    nc_status status = add_line(response, name, value);
    response->trailer_count += status == NC_OK ? 1 : 0;
    return status;
}

nc_status nc_response_extend_field(nc_response *response, nc_slice more) {
    if (response->field_count == 0) {
        return NC_ERR_BAD_RESPONSE;
    }
    nc_field *last = field_at(response, response->field_count - 1);
    // A line fold counts as a space (RFC 9112, 5.2), except at the beginning or end of the value.
    nc_slice space = nc_slice_of(last->value_length > 0 && more.length > 0 ? " " : "");
    if (nc_block_append(&response->text, response->pool, space) != NC_OK ||
        nc_block_append(&response->text, response->pool, more) != NC_OK) {
        return NC_ERR_NO_MEMORY;
    }
    // The last value is at the end of the text, so it grows in place.
    last->value_length += (uint32_t)(space.length + more.length);
    return NC_OK;
}

void nc_response_set_trust_result(nc_response *response, const nc_trust_result *result) {
    if (response->trust_result == NULL) {
        response->trust_result = nc_alloc(sizeof *response->trust_result);
    }
    if (response->trust_result != NULL) {
        *response->trust_result = *result;
    }
}

void nc_response_mark_close_delimited(nc_response *response) {
    response->is_close_delimited = true;
}

nc_status nc_response_expect_body(nc_response *response, uint64_t bytes) {
    response->announced_bytes = bytes < SIZE_MAX ? (size_t)bytes : SIZE_MAX;
    size_t wanted = bytes < max_expected_bytes ? (size_t)bytes : max_expected_bytes;
    return nc_block_reserve(&response->body, response->pool, wanted);
}

nc_status nc_response_append_body(nc_response *response, nc_slice bytes) {
    nc_block *body = &response->body;
    size_t announced = response->announced_bytes;
    if (body->capacity < announced && bytes.length > body->capacity - body->length) {
        bool is_near = body->capacity >= announced / announced_growth;
        size_t step = is_near ? announced : body->capacity * announced_growth;
        if (nc_block_reserve(body, response->pool, step) != NC_OK) {
            response->announced_bytes = 0; // There may be enough memory to grow in smaller steps.
        }
    }
    return nc_block_append(body, response->pool, bytes);
}

void nc_response_share_body(nc_response *response, nc_slice body, void *owner, void (*release)(void *owner)) {
    nc_response_drop_body(response);
    response->shared_body = body;
    response->shared_owner = owner;
    response->release_owner = release;
}

void nc_response_drop_body(nc_response *response) {
    response->body.length = 0;
    if (response->shared_owner != NULL) {
        response->release_owner(response->shared_owner);
        response->shared_owner = NULL;
    }
    response->announced_bytes = 0;
}

void nc_response_take_check(nc_response *response, nc_json *check, bool is_checked) {
    nc_json_free(response->json_check);
    response->json_check = check;
    response->is_checked = is_checked;
}

nc_json *nc_response_check(nc_response *response) {
    return response->json_check;
}

/* --- reading --- */

uint16_t nc_response_status(const nc_response *response) {
    return response->status;
}

nc_http_version nc_response_http_version(const nc_response *response) {
    return response->http_version;
}

bool nc_response_is_close_delimited(const nc_response *response) {
    return response->is_close_delimited;
}

nc_slice nc_response_url(const nc_response *response) {
    if (response->hop_count == 0) {
        return nc_slice_make(NULL, 0);
    }
    const nc_hop *hop = hop_at(response, response->hop_count - 1);
    return nc_slice_make(response->text.data + hop->url_at, hop->url_length);
}

nc_slice nc_response_body(const nc_response *response) {
    return response->shared_owner != NULL ? response->shared_body
                                          : nc_slice_make(response->body.data, response->body.length);
}

size_t nc_response_header_count(const nc_response *response) {
    return response->field_count;
}

static nc_header header_at(const nc_response *response, size_t index) {
    const nc_field *field = field_at(response, index);
    const uint8_t *text = response->text.data;
    return (nc_header){
        .name = {text + field->name_at, field->name_length},
        .value = {text + field->value_at, field->value_length},
    };
}

nc_header nc_response_header_at(const nc_response *response, size_t index) {
    return index < response->field_count ? header_at(response, index) : (nc_header){0};
}

size_t nc_response_trailer_count(const nc_response *response) {
    return response->trailer_count;
}

nc_header nc_response_trailer_at(const nc_response *response, size_t index) {
    return index < response->trailer_count ? header_at(response, response->field_count + index) : (nc_header){0};
}

bool nc_response_find_header(const nc_response *response, nc_slice name, nc_slice *out) {
    for (size_t i = 0; i < response->field_count; i++) {
        nc_header header = nc_response_header_at(response, i);
        if (nc_slice_is_equal_ignoring_case(header.name, name)) {
            *out = header.value;
            return true;
        }
    }
    return false;
}

size_t nc_response_hop_count(const nc_response *response) {
    return response->hop_count;
}

nc_hop_metrics nc_response_hop_at(const nc_response *response, size_t index) {
    if (index >= response->hop_count) {
        return (nc_hop_metrics){0};
    }
    const nc_hop *hop = hop_at(response, index);
    nc_hop_metrics metrics = hop->metrics;
    metrics.url = nc_slice_make(response->text.data + hop->url_at, hop->url_length);
    return metrics;
}

bool nc_response_was_checked(const nc_response *response) {
    return response->is_checked;
}

nc_json_failure nc_response_json_failure(const nc_response *response) {
    return response->json_check != NULL ? *nc_json_failure_of(response->json_check) : (nc_json_failure){0};
}

size_t nc_response_mismatch_count(const nc_response *response) {
    return response->json_check != NULL ? nc_json_mismatch_count(response->json_check) : 0;
}

nc_schema_failure nc_response_schema_failure(const nc_response *response) {
    return response->json_check != NULL ? nc_json_schema_failure(response->json_check) : (nc_schema_failure){0};
}

nc_shape_mismatch nc_response_mismatch_at(const nc_response *response, size_t index) {
    return response->json_check != NULL ? nc_json_mismatch_at(response->json_check, index) : (nc_shape_mismatch){0};
}
