#include "schema/keywords.h"

static const nc_keyword_info infos[] = {
#define INFO(identifier, name, form, vocabulary) {(name), sizeof(name) - 1, NC_FORM_##form, NC_VOCABULARY_##vocabulary},
    NC_KEYWORD_MAP(INFO)
#undef INFO
        {"", 0, NC_FORM_OTHER, NC_VOCABULARY_CORE},
};

const nc_keyword_info *nc_keyword_info_of(nc_schema_keyword keyword) {
    return &infos[keyword];
}

nc_schema_keyword nc_keyword_find(nc_slice name) {
    for (unsigned i = 0; i < NC_KEYWORD_COUNT; i++) {
        if (infos[i].length == name.length && memcmp(infos[i].name, name.data, name.length) == 0) {
            return (nc_schema_keyword)i;
        }
    }
    return NC_KEYWORD_NONE;
}
