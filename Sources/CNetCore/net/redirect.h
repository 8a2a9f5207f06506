/// Whether a response leads elsewhere, and what is asked there: a pure decision.
#ifndef NETCORE_PRIVATE_REDIRECT_H
#define NETCORE_PRIVATE_REDIRECT_H

#include <netcore/bytes.h>
#include <netcore/request.h>

typedef struct nc_redirect_question {
    uint16_t status;
    nc_slice url;      // what was asked
    nc_slice location; // the Location field; empty when there is none
    bool is_head;
    bool is_post;
    bool keeps_dot_segments; // those of the Location, too
    nc_redirect_choice choice;
    uint32_t followed; // redirects so far
    uint32_t max_redirects;
} nc_redirect_question;

typedef struct nc_redirect_answer {
    bool leads_on;       // false: the response is the answer
    bool becomes_get;    // the method is GET from now on, and the body is dropped
    bool changes_origin; // scheme, host or port differ, hosts in canonical form
} nc_redirect_answer;

/// Decides by RFC 9110, 15.4 and RFC 3986, 5.2, which dot segments that are kept go without.
///
/// `url` receives the next URL when the answer leads on, without credentials where it leads to another origin. Returns
/// NC_OK, NC_ERR_TOO_MANY_REDIRECTS, NC_ERR_REDIRECT_REFUSED (another scheme, or https to http), NC_ERR_BAD_REDIRECT,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_redirect_decide(nc_redirect_answer *answer, nc_buf *url, const nc_redirect_question *question,
                                          nc_error *err);

/// Puts the credentials of the URL asked into the next one, when that has none of its own and is of the same origin:
/// a relative reference inherits them (RFC 3986, 5.2.2), and an absolute one names no other place.
///
/// `url` as nc_redirect_decide() leaves it. Returns NC_OK, NC_ERR_BAD_REDIRECT when it is too long then,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_redirect_keep_credentials(nc_buf *url, nc_slice asked, nc_error *err);

#endif
