#include "schema/meta_schema.h"

#define BASE "https://json-schema.org/draft/2020-12/"

typedef struct meta_document {
    const char *name; // the URI without its base
    const char *text;
} meta_document;

// clang-format off
static const meta_document documents[] = {
    {"schema",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/schema\",\"$vocabulary\":{\"https://json-schema.org/draf"
     "t/2020-12/vocab/core\":true,\"https://json-schema.org/draft/2020-12/vocab/applicator\":true,\"https://jso"
     "n-schema.org/draft/2020-12/vocab/unevaluated\":true,\"https://json-schema.org/draft/2020-12/vocab/validat"
     "ion\":true,\"https://json-schema.org/draft/2020-12/vocab/meta-data\":true,\"https://json-schema.org/draft"
     "/2020-12/vocab/format-annotation\":true,\"https://json-schema.org/draft/2020-12/vocab/content\":true},\"$"
     "dynamicAnchor\":\"meta\",\"allOf\":[{\"$ref\":\"meta/core\"},{\"$ref\":\"meta/applicator\"},{\"$ref\":\"m"
     "eta/unevaluated\"},{\"$ref\":\"meta/validation\"},{\"$ref\":\"meta/meta-data\"},{\"$ref\":\"meta/format-a"
     "nnotation\"},{\"$ref\":\"meta/content\"}],\"type\":[\"object\",\"boolean\"],\"properties\":{\"definitions"
     "\":{\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef\":\"#meta\"}},\"dependencies\":{\"type\":"
     "\"object\",\"additionalProperties\":{\"anyOf\":[{\"$dynamicRef\":\"#meta\"},{\"$ref\":\"meta/validation#/"
     "$defs/stringArray\"}]}},\"$recursiveAnchor\":{\"$ref\":\"meta/core#/$defs/anchorString\"},\"$recursiveRef"
     "\":{\"$ref\":\"meta/core#/$defs/uriReferenceString\"}}}"},
    {"meta/core",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/core\",\"$vocabulary\":{\"https://json-schema.org/d"
     "raft/2020-12/vocab/core\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],\"propertie"
     "s\":{\"$id\":{\"$ref\":\"#/$defs/uriReferenceString\",\"pattern\":\"^[^#]*#?$\"},\"$schema\":{\"$ref\":\""
     "#/$defs/uriString\"},\"$ref\":{\"$ref\":\"#/$defs/uriReferenceString\"},\"$anchor\":{\"$ref\":\"#/$defs/a"
     "nchorString\"},\"$dynamicRef\":{\"$ref\":\"#/$defs/uriReferenceString\"},\"$dynamicAnchor\":{\"$ref\":\"#"
     "/$defs/anchorString\"},\"$vocabulary\":{\"type\":\"object\",\"propertyNames\":{\"$ref\":\"#/$defs/uriStri"
     "ng\"},\"additionalProperties\":{\"type\":\"boolean\"}},\"$comment\":{\"type\":\"string\"},\"$defs\":{\"ty"
     "pe\":\"object\",\"additionalProperties\":{\"$dynamicRef\":\"#meta\"}}},\"$defs\":{\"anchorString\":{\"typ"
     "e\":\"string\",\"pattern\":\"^[A-Za-z_][-A-Za-z0-9._]*$\"},\"uriString\":{\"type\":\"string\",\"format\":"
     "\"uri\"},\"uriReferenceString\":{\"type\":\"string\",\"format\":\"uri-reference\"}}}"},
    {"meta/applicator",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/applicator\",\"$vocabulary\":{\"https://json-schema"
     ".org/draft/2020-12/vocab/applicator\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"]"
     ",\"properties\":{\"prefixItems\":{\"$ref\":\"#/$defs/schemaArray\"},\"items\":{\"$dynamicRef\":\"#meta\"}"
     ",\"contains\":{\"$dynamicRef\":\"#meta\"},\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"properti"
     "es\":{\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"default\":{}},\"patternP"
     "roperties\":{\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef\":\"#meta\"},\"propertyNames\":{"
     "\"format\":\"regex\"}},\"dependentSchemas\":{\"type\":\"object\",\"additionalProperties\":{\"$dynamicRef"
     "\":\"#meta\"}},\"propertyNames\":{\"$dynamicRef\":\"#meta\"},\"if\":{\"$dynamicRef\":\"#meta\"},\"then\":"
     "{\"$dynamicRef\":\"#meta\"},\"else\":{\"$dynamicRef\":\"#meta\"},\"allOf\":{\"$ref\":\"#/$defs/schemaArra"
     "y\"},\"anyOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"oneOf\":{\"$ref\":\"#/$defs/schemaArray\"},\"not\":{"
     "\"$dynamicRef\":\"#meta\"}},\"$defs\":{\"schemaArray\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"$d"
     "ynamicRef\":\"#meta\"}}}}"},
    {"meta/unevaluated",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/unevaluated\",\"$vocabulary\":{\"https://json-schem"
     "a.org/draft/2020-12/vocab/unevaluated\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean"
     "\"],\"properties\":{\"unevaluatedItems\":{\"$dynamicRef\":\"#meta\"},\"unevaluatedProperties\":{\"$dynami"
     "cRef\":\"#meta\"}}}"},
    {"meta/validation",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/validation\",\"$vocabulary\":{\"https://json-schema"
     ".org/draft/2020-12/vocab/validation\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"]"
     ",\"properties\":{\"type\":{\"anyOf\":[{\"$ref\":\"#/$defs/simpleTypes\"},{\"type\":\"array\",\"items\":{"
     "\"$ref\":\"#/$defs/simpleTypes\"},\"minItems\":1,\"uniqueItems\":true}]},\"const\":true,\"enum\":{\"type"
     "\":\"array\",\"items\":true},\"multipleOf\":{\"type\":\"number\",\"exclusiveMinimum\":0},\"maximum\":{\"t"
     "ype\":\"number\"},\"exclusiveMaximum\":{\"type\":\"number\"},\"minimum\":{\"type\":\"number\"},\"exclusiv"
     "eMinimum\":{\"type\":\"number\"},\"maxLength\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minLength\":{"
     "\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"pattern\":{\"type\":\"string\",\"format\":\"regex\"},"
     "\"maxItems\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"minItems\":{\"$ref\":\"#/$defs/nonNegativeIntege"
     "rDefault0\"},\"uniqueItems\":{\"type\":\"boolean\"},\"maxContains\":{\"$ref\":\"#/$defs/nonNegativeIntege"
     "r\"},\"minContains\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"maxProperties\":{\"$ref\":\"#/$defs/nonN"
     "egativeInteger\"},\"minProperties\":{\"$ref\":\"#/$defs/nonNegativeIntegerDefault0\"},\"required\":{\"$re"
     "f\":\"#/$defs/stringArray\"},\"dependentRequired\":{\"type\":\"object\",\"additionalProperties\":{\"$ref"
     "\":\"#/$defs/stringArray\"}}},\"$defs\":{\"nonNegativeInteger\":{\"type\":\"integer\",\"minimum\":0},\"no"
     "nNegativeIntegerDefault0\":{\"$ref\":\"#/$defs/nonNegativeInteger\"},\"simpleTypes\":{\"enum\":[\"array\""
     ",\"boolean\",\"integer\",\"null\",\"number\",\"object\",\"string\"]},\"stringArray\":{\"type\":\"array\","
     "\"items\":{\"type\":\"string\"},\"uniqueItems\":true}}}"},
    {"meta/meta-data",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/meta-data\",\"$vocabulary\":{\"https://json-schema."
     "org/draft/2020-12/vocab/meta-data\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],"
     "\"properties\":{\"title\":{\"type\":\"string\"},\"description\":{\"type\":\"string\"},\"default\":true,\""
     "deprecated\":{\"type\":\"boolean\"},\"readOnly\":{\"type\":\"boolean\"},\"writeOnly\":{\"type\":\"boolean"
     "\"},\"examples\":{\"type\":\"array\",\"items\":true}}}"},
    {"meta/format-annotation",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/format-annotation\",\"$vocabulary\":{\"https://json"
     "-schema.org/draft/2020-12/vocab/format-annotation\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object"
     "\",\"boolean\"],\"properties\":{\"format\":{\"type\":\"string\"}}}"},
    {"meta/format-assertion",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/format-assertion\",\"$vocabulary\":{\"https://json-"
     "schema.org/draft/2020-12/vocab/format-assertion\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\","
     "\"boolean\"],\"properties\":{\"format\":{\"type\":\"string\"}}}"},
    {"meta/content",
     "{\"$id\":\"https://json-schema.org/draft/2020-12/meta/content\",\"$vocabulary\":{\"https://json-schema.or"
     "g/draft/2020-12/vocab/content\":true},\"$dynamicAnchor\":\"meta\",\"type\":[\"object\",\"boolean\"],\"pro"
     "perties\":{\"contentEncoding\":{\"type\":\"string\"},\"contentMediaType\":{\"type\":\"string\"},\"content"
     "Schema\":{\"$dynamicRef\":\"#meta\"}}}"},
};
// clang-format on

nc_slice nc_meta_schema_find(nc_slice uri) {
    const size_t base = sizeof BASE - 1;
    if (uri.length <= base || memcmp(uri.data, BASE, base) != 0) {
        return (nc_slice){0};
    }
    nc_slice name = nc_slice_make(uri.data + base, uri.length - base);
    for (size_t i = 0; i < sizeof documents / sizeof documents[0]; i++) {
        if (nc_slice_is_equal(nc_slice_of(documents[i].name), name)) {
            return nc_slice_of(documents[i].text);
        }
    }
    return (nc_slice){0};
}

bool nc_meta_schema_is_default(nc_slice uri) {
    return nc_slice_is_equal(uri, nc_slice_of(BASE "schema")) || nc_slice_is_equal(uri, nc_slice_of(BASE "schema#"));
}
