#include "schema/library.h"

#include "base/alloc.h"
#include "base/ascii.h"
#include "base/error.h"
#include "schema/keywords.h"
#include "schema/meta_schema.h"

#include <netcore/url.h>
#include <stdarg.h>
#include <stdio.h>

enum {
    MAX_TABLE_BYTES = 64 * 1024 * 1024,
    MAX_BUDGET = 100 * 1000 * 1000,
};

/// The base of a document without a URI.
#define DEFAULT_URI "schema:///"

/* --- memory --- */

void nc_library_init(nc_library *library, const nc_schema_options *options, nc_error *err) {
    *library = (nc_library){.options = options,
                            .documents = nc_buf_init(MAX_TABLE_BYTES),
                            .resources = nc_buf_init(MAX_TABLE_BYTES),
                            .anchors = nc_buf_init(MAX_TABLE_BYTES),
                            .texts = nc_buf_init(MAX_TABLE_BYTES),
                            .budget = MAX_BUDGET,
                            .err = err};
}

static uint32_t document_count(const nc_library *library) {
    return (uint32_t)(library->documents.length / sizeof(nc_library_document));
}

static nc_library_document *document_at(const nc_library *library, uint32_t index) {
    return (nc_library_document *)(void *)library->documents.data + index;
}

static uint32_t resource_count(const nc_library *library) {
    return (uint32_t)(library->resources.length / sizeof(nc_library_resource));
}

nc_library_resource *nc_library_resource_at(const nc_library *library, uint32_t index) {
    return (nc_library_resource *)(void *)library->resources.data + index;
}

void nc_library_deinit(nc_library *library) {
    for (uint32_t i = 0; i < document_count(library); i++) {
        nc_tree_deinit(document_at(library, i)->tree);
        nc_free(document_at(library, i)->tree);
    }
    for (size_t i = 0; i < library->texts.length / sizeof(uint8_t *); i++) {
        nc_free(((uint8_t **)(void *)library->texts.data)[i]);
    }
    nc_buf_deinit(&library->documents);
    nc_buf_deinit(&library->resources);
    nc_buf_deinit(&library->anchors);
    nc_buf_deinit(&library->texts);
}

/// Takes over the contents of a buffer, and returns them. An empty slice after an error.
static nc_slice keep(nc_library *library, nc_buf *text) {
    nc_slice kept = nc_buf_slice(text);
    if (text->status == NC_OK && text->data != NULL) {
        nc_buf_append(&library->texts, nc_slice_make(&text->data, sizeof text->data));
    }
    if (text->status != NC_OK || library->texts.status != NC_OK) {
        nc_status status = text->status != NC_OK ? text->status : library->texts.status;
        nc_buf_deinit(text);
        (void)nc_library_fail(library, status, NULL, "%s", nc_status_text(status));
        return (nc_slice){0};
    }
    return kept;
}

static bool append(nc_library *library, nc_buf *table, const void *entry, size_t bytes) {
    nc_buf_append(table, nc_slice_make(entry, bytes));
    return table->status == NC_OK || nc_library_fail(library, table->status, NULL, "%s", nc_status_text(table->status));
}

/* --- errors --- */

void nc_library_write_location(const nc_library *library, nc_buf *out, const nc_tree_value *value) {
    uint32_t resource = nc_library_resource_of(library, value);
    uint32_t document = resource == NC_TREE_NONE ? 0 : nc_library_resource_at(library, resource)->document;
    if (document > 0) {
        nc_buf_append(out, document_at(library, document)->uri);
    }
    nc_buf_append_byte(out, '#');
    nc_tree_write_pointer(out, value);
}

bool nc_library_fail(nc_library *library, nc_status status, const nc_tree_value *at, const char *format, ...) {
    char reason[NC_ERROR_MESSAGE_BYTES];
    nc_buf location = nc_buf_init(100);
    va_list arguments;
    if (library->status != NC_OK) {
        return false;
    }
    va_start(arguments, format);
    (void)vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    if (at != NULL) {
        nc_library_write_location(library, &location, at);
        library->status = nc_error_set(library->err, status, 0, (int64_t)at->offset, "at %.*s: %s",
                                       (int)location.length, (const char *)location.data, reason);
    } else {
        library->status = nc_error_set(library->err, status, 0, -1, "%s", reason);
    }
    nc_buf_deinit(&location);
    return false;
}

/// Spends comparisons. Returns false when there are none left.
static bool spend(nc_library *library, uint64_t comparisons) {
    if (library->budget < comparisons) {
        return nc_library_fail(library, NC_ERR_TOO_LARGE, NULL, "the schema has too many references to resolve");
    }
    library->budget -= comparisons;
    return true;
}

/* --- resources and anchors --- */

uint32_t nc_library_resource_of(const nc_library *library, const nc_tree_value *value) {
    (void)library;
    while (value->resource == NC_TREE_NONE && value->parent != NULL) {
        value = value->parent;
    }
    return value->resource;
}

/// Resolves a reference against a base, without fragment.
static nc_slice resolve_uri(nc_library *library, nc_slice base, nc_slice reference, const nc_tree_value *at) {
    nc_buf uri = nc_buf_init(NC_URL_MAX_BYTES);
    nc_error err;
    size_t length = 0;
    while (length < reference.length && reference.data[length] != '#') {
        length++;
    }
    nc_status status = nc_url_resolve(&uri, base, nc_slice_make(reference.data, length), &err);
    if (status != NC_OK) {
        nc_buf_deinit(&uri);
        (void)nc_library_fail(library, status == NC_ERR_NO_MEMORY ? status : NC_ERR_BAD_SHAPE, at,
                              "\"%.*s\" is not a valid URI reference", (int)(length < 80 ? length : 80),
                              (const char *)reference.data);
        return (nc_slice){0};
    }
    return keep(library, &uri);
}

static uint32_t vocabularies_of_uri(nc_slice uri) {
    static const struct {
        const char *name;
        uint32_t bit;
    } known[] = {
        {"core", NC_VOCABULARY_CORE},
        {"applicator", NC_VOCABULARY_APPLICATOR},
        {"unevaluated", NC_VOCABULARY_UNEVALUATED},
        {"validation", NC_VOCABULARY_VALIDATION},
        {"format-annotation", NC_VOCABULARY_FORMAT},
        {"format-assertion", NC_VOCABULARY_FORMAT | NC_VOCABULARY_FORMAT_ASSERTION},
        {"content", NC_VOCABULARY_OTHER},
        {"meta-data", NC_VOCABULARY_OTHER},
    };
    static const char prefix[] = "https://json-schema.org/draft/2020-12/vocab/";
    size_t length = sizeof prefix - 1;
    if (uri.length <= length || memcmp(uri.data, prefix, length) != 0) {
        return 0;
    }
    nc_slice name = nc_slice_make(uri.data + length, uri.length - length);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (nc_slice_is_equal(nc_slice_of(known[i].name), name)) {
            return known[i].bit;
        }
    }
    return 0;
}

static uint32_t find_resource(nc_library *library, nc_slice uri);

/// Returns the vocabularies that the meta-schema of a resource selects; those of `outer` if it names none.
static uint32_t vocabularies_of(nc_library *library, const nc_tree_value *schema, uint32_t outer) {
    const nc_tree_value *name = nc_tree_member_named(schema, "$schema");
    if (name == NULL || name->kind != NC_JSON_STRING || nc_meta_schema_is_default(name->text)) {
        return name == NULL ? outer : NC_VOCABULARY_DEFAULT;
    }
    uint32_t found = find_resource(library, name->text);
    const nc_tree_value *listed =
        found == NC_TREE_NONE ? NULL
                              : nc_tree_member_named(nc_library_resource_at(library, found)->root, "$vocabulary");
    if (listed == NULL) {
        return NC_VOCABULARY_DEFAULT;
    }
    uint32_t vocabularies = NC_VOCABULARY_CORE;
    for (const nc_tree_value *one = listed->first; one != NULL; one = one->next) {
        uint32_t known = vocabularies_of_uri(one->name);
        if (known == 0 && one->kind == NC_JSON_TRUE) {
            (void)nc_library_fail(library, NC_ERR_BAD_SHAPE, schema, "the required vocabulary %.*s is unknown",
                                  (int)(one->name.length < 80 ? one->name.length : 80), (const char *)one->name.data);
        }
        vocabularies |= known;
    }
    return vocabularies;
}

/// Makes a schema the root of a resource.
static void add_resource(nc_library *library, nc_tree_value *schema, nc_slice uri, uint32_t document, uint32_t outer) {
    nc_library_resource resource = {.uri = uri, .root = schema, .document = document, .vocabularies = outer};
    uint32_t index = resource_count(library);
    if (append(library, &library->resources, &resource, sizeof resource)) {
        schema->resource = index;
        uint32_t vocabularies = vocabularies_of(library, schema, outer);
        nc_library_resource_at(library, index)->vocabularies = vocabularies;
    }
}

static void add_anchor(nc_library *library, nc_tree_value *schema, const char *keyword, bool is_dynamic) {
    const nc_tree_value *name = nc_tree_member_named(schema, keyword);
    if (name != NULL && name->kind == NC_JSON_STRING) {
        nc_library_anchor anchor = {
            .resource = nc_library_resource_of(library, schema), .is_dynamic = is_dynamic, .name = name->text};
        anchor.value = schema;
        (void)append(library, &library->anchors, &anchor, sizeof anchor);
    }
}

static void scan_children(nc_library *library, nc_tree_value *value, nc_keyword_form form) {
    if (form == NC_FORM_SCHEMA) {
        nc_library_scan(library, value);
    }
    bool is_list = (form == NC_FORM_ARRAY && value->kind == NC_JSON_ARRAY) ||
                   (form == NC_FORM_MAP && value->kind == NC_JSON_OBJECT);
    for (nc_tree_value *child = is_list ? value->first : NULL; child != NULL; child = child->next) {
        nc_library_scan(library, child);
    }
}

void nc_library_scan(nc_library *library, nc_tree_value *schema) {
    if (schema->kind != NC_JSON_OBJECT || schema->is_schema || library->status != NC_OK) {
        return;
    }
    schema->is_schema = true;
    const nc_tree_value *id = nc_tree_member_named(schema, "$id");
    if (id != NULL && id->kind == NC_JSON_STRING) {
        nc_library_resource outer = *nc_library_resource_at(library, nc_library_resource_of(library, schema));
        nc_slice uri = resolve_uri(library, outer.uri, id->text, id);
        if (library->status == NC_OK) {
            add_resource(library, schema, uri, outer.document, outer.vocabularies);
        }
    }
    add_anchor(library, schema, "$anchor", false);
    add_anchor(library, schema, "$dynamicAnchor", true);
    for (nc_tree_value *member = schema->first; member != NULL; member = member->next) {
        nc_schema_keyword keyword = nc_keyword_find(member->name);
        scan_children(library, member, (nc_keyword_form)nc_keyword_info_of(keyword)->form);
    }
}

/* --- documents --- */

/// Reads a document and finds its resources. Returns the resource of its root, or NC_TREE_NONE after an error.
static uint32_t add_document(nc_library *library, nc_slice uri, nc_slice text) {
    nc_library_document document = {.tree = nc_alloc(sizeof *document.tree), .uri = uri};
    nc_error err;
    if (document.tree == NULL || text.length > NC_SCHEMA_MAX_BYTES) {
        nc_status reason = document.tree == NULL ? NC_ERR_NO_MEMORY : NC_ERR_TOO_LARGE;
        nc_free(document.tree);
        (void)nc_library_fail(library, reason, NULL, "a schema document: %s", nc_status_text(reason));
        return NC_TREE_NONE;
    }
    *document.tree = (nc_tree){0};
    uint32_t index = document_count(library);
    if (!append(library, &library->documents, &document, sizeof document)) {
        nc_free(document.tree);
        return NC_TREE_NONE;
    }
    nc_status status = nc_tree_read(document.tree, text, &err);
    if (status != NC_OK) {
        (void)nc_library_fail(library, status == NC_ERR_BAD_JSON ? NC_ERR_BAD_SHAPE : status, NULL, "%.*s%s%s",
                              (int)(index == 0        ? 0
                                    : uri.length < 80 ? uri.length
                                                      : 80),
                              (const char *)uri.data, index == 0 ? "" : ": ", err.message);
        library->err->offset = err.offset;
        return NC_TREE_NONE;
    }
    nc_tree_value *root = document.tree->root;
    // A document is known by the URI that it was asked for with, and by its own identifier.
    add_resource(library, root, uri, index, NC_VOCABULARY_DEFAULT);
    nc_library_scan(library, root);
    return library->status == NC_OK ? root->resource : NC_TREE_NONE;
}

nc_tree_value *nc_library_open(nc_library *library, nc_slice text) {
    nc_slice uri = library->options->uri.length > 0 ? library->options->uri : nc_slice_of(DEFAULT_URI);
    uint32_t resource = add_document(library, uri, text);
    return resource == NC_TREE_NONE ? NULL : nc_library_resource_at(library, resource)->root;
}

/// Returns the text of a document that is not read yet; an empty slice if there is none.
static nc_slice find_text(const nc_library *library, nc_slice uri) {
    for (size_t i = 0; i < library->options->document_count; i++) {
        if (nc_slice_is_equal(library->options->documents[i].uri, uri)) {
            return library->options->documents[i].text;
        }
    }
    return nc_meta_schema_find(uri);
}

/// Returns the resource with a URI, and reads its document if that is necessary. NC_TREE_NONE if there is none.
static uint32_t find_resource(nc_library *library, nc_slice uri) {
    if (!spend(library, resource_count(library) + 1)) {
        return NC_TREE_NONE;
    }
    if (uri.length > 0 && uri.data[uri.length - 1] == '#') {
        uri.length--;
    }
    for (uint32_t i = 0; i < resource_count(library); i++) {
        const nc_library_resource *resource = nc_library_resource_at(library, i);
        if (nc_slice_is_equal(resource->uri, uri)) {
            return resource->root->resource;
        }
    }
    nc_slice text = find_text(library, uri);
    return text.length == 0 ? NC_TREE_NONE : add_document(library, uri, text);
}

/* --- references --- */

static const nc_library_anchor *find_anchor(nc_library *library, uint32_t resource, nc_slice name) {
    size_t count = library->anchors.length / sizeof(nc_library_anchor);
    const nc_library_anchor *anchors = (const nc_library_anchor *)(const void *)library->anchors.data;
    if (!spend(library, count + 1)) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (anchors[i].resource == resource && nc_slice_is_equal(anchors[i].name, name)) {
            return &anchors[i];
        }
    }
    return NULL;
}

const nc_library_anchor *nc_library_dynamic_anchor(nc_library *library, const nc_tree_value *value, nc_slice name) {
    size_t count = library->anchors.length / sizeof(nc_library_anchor);
    const nc_library_anchor *anchors = (const nc_library_anchor *)(const void *)library->anchors.data;
    if (!spend(library, count + 1)) {
        return NULL;
    }
    for (size_t i = 0; i < count; i++) {
        if (anchors[i].is_dynamic && anchors[i].value == value && nc_slice_is_equal(anchors[i].name, name)) {
            return &anchors[i];
        }
    }
    return NULL;
}

/// Appends a fragment with its percent-encoding decoded.
static void append_decoded(nc_buf *out, nc_slice fragment) {
    for (size_t i = 0; i < fragment.length; i++) {
        bool is_encoded = fragment.data[i] == '%' && fragment.length - i > 2 &&
                          nc_ascii_hex(fragment.data[i + 1]) >= 0 && nc_ascii_hex(fragment.data[i + 2]) >= 0;
        if (is_encoded) {
            nc_buf_append_byte(out,
                               (uint8_t)(nc_ascii_hex(fragment.data[i + 1]) << 4 | nc_ascii_hex(fragment.data[i + 2])));
            i += 2;
        } else {
            nc_buf_append_byte(out, fragment.data[i]);
        }
    }
}

/// Returns the value that a fragment identifies in a resource.
static nc_tree_value *find_fragment(nc_library *library, uint32_t resource, nc_slice fragment) {
    nc_buf decoded = nc_buf_init(NC_URL_MAX_BYTES);
    nc_tree_value *root = nc_library_resource_at(library, resource)->root;
    nc_tree_value *found = root;
    append_decoded(&decoded, fragment);
    if (decoded.status == NC_OK && decoded.length > 0) {
        if (decoded.data[0] == '/') {
            found = nc_tree_find(root, nc_buf_slice(&decoded), &library->budget);
        } else {
            const nc_library_anchor *anchor = find_anchor(library, resource, nc_buf_slice(&decoded));
            found = anchor == NULL ? NULL : anchor->value;
        }
    }
    if (decoded.status != NC_OK) {
        (void)nc_library_fail(library, decoded.status, NULL, "%s", nc_status_text(decoded.status));
        found = NULL;
    }
    nc_buf_deinit(&decoded);
    return found;
}

nc_tree_value *nc_library_resolve(nc_library *library, const nc_tree_value *at, nc_slice reference) {
    uint32_t resource = nc_library_resource_of(library, at);
    size_t length = 0;
    while (length < reference.length && reference.data[length] != '#') {
        length++;
    }
    if (length > 0) {
        nc_slice uri = resolve_uri(library, nc_library_resource_at(library, resource)->uri, reference, at);
        resource = library->status == NC_OK ? find_resource(library, uri) : NC_TREE_NONE;
    }
    nc_slice fragment = {0};
    if (length < reference.length) {
        fragment = nc_slice_make(reference.data + length + 1, reference.length - length - 1);
    }
    nc_tree_value *found = resource == NC_TREE_NONE ? NULL : find_fragment(library, resource, fragment);
    if (found == NULL) {
        int shown = reference.length < 100 ? (int)reference.length : 100;
        (void)nc_library_fail(library, NC_ERR_BAD_SHAPE, at, "the reference \"%.*s\" leads to no schema%s", shown,
                              (const char *)reference.data,
                              resource == NC_TREE_NONE ? ": its document was not given" : "");
    }
    return found;
}
