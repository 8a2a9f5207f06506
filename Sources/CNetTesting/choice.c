#include "choice.h"

#include <errno.h>

struct nct_choice {
    const nct_request *request;
    size_t connection;
    bool has_body;
    nct_script *script;
};

const char *nct_choice_head(const nct_choice *choice, size_t *length) {
    *length = choice->request->first.length;
    return (const char *)nct_bytes_first(&choice->request->first);
}

size_t nct_choice_connection(const nct_choice *choice) {
    return choice->connection;
}

const void *nct_choice_body(const nct_choice *choice, size_t *length, uint64_t *received) {
    *length = choice->has_body ? choice->request->body.length : 0;
    *received = choice->has_body ? choice->request->body_received : 0;
    if (!choice->has_body)
        return NULL;
    return *length > 0 ? (const void *)nct_bytes_first(&choice->request->body) : "";
}

int nct_choice_respond(nct_choice *choice, const nct_reply *reply) {
    nct_script *script = nct_script_new(reply);
    if (script == NULL)
        return ENOMEM;
    nct_script_release(choice->script);
    choice->script = script;
    return 0;
}

nct_script *nct_choice_make(const nct_chooser *chooser, const nct_request *request, size_t connection, bool has_body) {
    nct_choice choice = {.request = request, .connection = connection, .has_body = has_body};
    chooser->choose(chooser->context, &choice);
    return choice.script;
}
