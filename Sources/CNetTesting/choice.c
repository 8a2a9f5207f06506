#include "choice.h"

#include <errno.h>

struct nct_choice {
    const nct_request *request;
    size_t connection;
    nct_script *script;
};

const char *nct_choice_head(const nct_choice *choice, size_t *length) {
    *length = choice->request->first.length;
    return (const char *)nct_bytes_first(&choice->request->first);
}

size_t nct_choice_connection(const nct_choice *choice) {
    return choice->connection;
}

int nct_choice_answer(nct_choice *choice, const nct_reply *reply) {
    nct_script *script = nct_script_new(reply);
    if (script == NULL)
        return ENOMEM;
    nct_script_release(choice->script);
    choice->script = script;
    return 0;
}

nct_script *nct_choice_make(const nct_chooser *chooser, const nct_request *request, size_t connection) {
    nct_choice choice = {.request = request, .connection = connection};
    chooser->choose(chooser->context, &choice);
    return choice.script;
}
