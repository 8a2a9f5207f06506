/// The keywords of JSON Schema 2020-12.
#ifndef NETCORE_PRIVATE_SCHEMA_KEYWORDS_H
#define NETCORE_PRIVATE_SCHEMA_KEYWORDS_H

#include <netcore/bytes.h>

/// Vocabularies (JSON Schema 2020-12, core, 8.1.2), as bits.
enum {
    NC_VOCABULARY_CORE = 1,
    NC_VOCABULARY_APPLICATOR = 2,
    NC_VOCABULARY_UNEVALUATED = 4,
    NC_VOCABULARY_VALIDATION = 8,
    NC_VOCABULARY_FORMAT = 16,           // as an annotation
    NC_VOCABULARY_FORMAT_ASSERTION = 32, // as an assertion
    NC_VOCABULARY_OTHER = 64,            // content and meta-data, which do not affect the result
    NC_VOCABULARY_DEFAULT = 95,
};

/// The position of subschemas in the value of a keyword.
typedef enum nc_keyword_form {
    NC_FORM_OTHER,  // it contains none
    NC_FORM_SCHEMA, // the value is a schema
    NC_FORM_ARRAY,  // its elements are schemas
    NC_FORM_MAP,    // its members are schemas
} nc_keyword_form;

/// X(identifier, name, form, vocabulary)
#define NC_KEYWORD_MAP(X)                                                                                              \
    X(ID, "$id", OTHER, CORE)                                                                                          \
    X(SCHEMA, "$schema", OTHER, CORE)                                                                                  \
    X(REF, "$ref", OTHER, CORE)                                                                                        \
    X(DYNAMIC_REF, "$dynamicRef", OTHER, CORE)                                                                         \
    X(ANCHOR, "$anchor", OTHER, CORE)                                                                                  \
    X(DYNAMIC_ANCHOR, "$dynamicAnchor", OTHER, CORE)                                                                   \
    X(DEFS, "$defs", MAP, CORE)                                                                                        \
    X(DEFINITIONS, "definitions", MAP, CORE)                                                                           \
    X(ALL_OF, "allOf", ARRAY, APPLICATOR)                                                                              \
    X(ANY_OF, "anyOf", ARRAY, APPLICATOR)                                                                              \
    X(ONE_OF, "oneOf", ARRAY, APPLICATOR)                                                                              \
    X(NOT, "not", SCHEMA, APPLICATOR)                                                                                  \
    X(IF, "if", SCHEMA, APPLICATOR)                                                                                    \
    X(THEN, "then", SCHEMA, APPLICATOR)                                                                                \
    X(ELSE, "else", SCHEMA, APPLICATOR)                                                                                \
    X(DEPENDENT_SCHEMAS, "dependentSchemas", MAP, APPLICATOR)                                                          \
    X(DEPENDENCIES, "dependencies", MAP, APPLICATOR)                                                                   \
    X(PREFIX_ITEMS, "prefixItems", ARRAY, APPLICATOR)                                                                  \
    X(ITEMS, "items", SCHEMA, APPLICATOR)                                                                              \
    X(CONTAINS, "contains", SCHEMA, APPLICATOR)                                                                        \
    X(PROPERTIES, "properties", MAP, APPLICATOR)                                                                       \
    X(PATTERN_PROPERTIES, "patternProperties", MAP, APPLICATOR)                                                        \
    X(ADDITIONAL_PROPERTIES, "additionalProperties", SCHEMA, APPLICATOR)                                               \
    X(PROPERTY_NAMES, "propertyNames", SCHEMA, APPLICATOR)                                                             \
    X(UNEVALUATED_ITEMS, "unevaluatedItems", SCHEMA, UNEVALUATED)                                                      \
    X(UNEVALUATED_PROPERTIES, "unevaluatedProperties", SCHEMA, UNEVALUATED)                                            \
    X(TYPE, "type", OTHER, VALIDATION)                                                                                 \
    X(CONST, "const", OTHER, VALIDATION)                                                                               \
    X(ENUM, "enum", OTHER, VALIDATION)                                                                                 \
    X(MULTIPLE_OF, "multipleOf", OTHER, VALIDATION)                                                                    \
    X(MAXIMUM, "maximum", OTHER, VALIDATION)                                                                           \
    X(EXCLUSIVE_MAXIMUM, "exclusiveMaximum", OTHER, VALIDATION)                                                        \
    X(MINIMUM, "minimum", OTHER, VALIDATION)                                                                           \
    X(EXCLUSIVE_MINIMUM, "exclusiveMinimum", OTHER, VALIDATION)                                                        \
    X(MAX_LENGTH, "maxLength", OTHER, VALIDATION)                                                                      \
    X(MIN_LENGTH, "minLength", OTHER, VALIDATION)                                                                      \
    X(PATTERN, "pattern", OTHER, VALIDATION)                                                                           \
    X(MAX_ITEMS, "maxItems", OTHER, VALIDATION)                                                                        \
    X(MIN_ITEMS, "minItems", OTHER, VALIDATION)                                                                        \
    X(UNIQUE_ITEMS, "uniqueItems", OTHER, VALIDATION)                                                                  \
    X(MAX_CONTAINS, "maxContains", OTHER, VALIDATION)                                                                  \
    X(MIN_CONTAINS, "minContains", OTHER, VALIDATION)                                                                  \
    X(MAX_PROPERTIES, "maxProperties", OTHER, VALIDATION)                                                              \
    X(MIN_PROPERTIES, "minProperties", OTHER, VALIDATION)                                                              \
    X(REQUIRED, "required", OTHER, VALIDATION)                                                                         \
    X(DEPENDENT_REQUIRED, "dependentRequired", OTHER, VALIDATION)                                                      \
    X(FORMAT, "format", OTHER, FORMAT)                                                                                 \
    X(CONTENT_SCHEMA, "contentSchema", SCHEMA, OTHER)

typedef enum nc_schema_keyword {
#define NC_KEYWORD_ENUM(identifier, name, form, vocabulary) NC_KEYWORD_##identifier,
    NC_KEYWORD_MAP(NC_KEYWORD_ENUM)
#undef NC_KEYWORD_ENUM
        NC_KEYWORD_COUNT,
    NC_KEYWORD_NONE = NC_KEYWORD_COUNT, // an unknown name; in an error: the schema `false`
} nc_schema_keyword;

typedef struct nc_keyword_info {
    const char *name;
    uint8_t length;
    uint8_t form;
    uint8_t vocabulary;
} nc_keyword_info;

/// Returns the description of a keyword.
const nc_keyword_info *nc_keyword_info_of(nc_schema_keyword keyword);
/// Returns the keyword with a name, or NC_KEYWORD_NONE.
nc_schema_keyword nc_keyword_find(nc_slice name);

#endif
