/// Decides whether a response is a redirect, and what the next hop requests. Pure.
#ifndef NETCORE_PRIVATE_REDIRECT_H
#define NETCORE_PRIVATE_REDIRECT_H

#include <netcore/bytes.h>
#include <netcore/request.h>

typedef struct nc_redirect_question {
    uint16_t status;
    nc_slice url;      // the requested URL
    nc_slice location; // the Location field; empty if absent
    bool is_head;
    bool is_post;
    bool keeps_dot_segments; // also those of the Location
    nc_redirect_choice choice;
    uint32_t followed; // redirects so far
    uint32_t max_redirects;
} nc_redirect_question;

typedef struct nc_redirect_answer {
    bool leads_on;       // false: the response is final
    bool becomes_get;    // the method becomes GET, and the body is dropped
    bool changes_origin; // scheme, host or port differ; hosts in canonical form
} nc_redirect_answer;

/// Decides by RFC 9110, 15.4 and RFC 3986, 5.2, with the exception of dot segments that are kept.
///
/// `url` receives the next URL of a redirect, without credentials if it is cross-origin. Returns NC_OK,
/// NC_ERR_TOO_MANY_REDIRECTS, NC_ERR_REDIRECT_REFUSED (another scheme, or https to http), NC_ERR_BAD_REDIRECT,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_redirect_decide(nc_redirect_answer *answer, nc_buf *url, const nc_redirect_question *question,
                                          nc_error *err);

/// Copies the credentials of the requested URL to the next one, if that has none and is same-origin. A relative
/// reference inherits them (RFC 3986, 5.2.2), and an absolute one means the same target.
///
/// `url` is the result of nc_redirect_decide(). Returns NC_OK, NC_ERR_BAD_REDIRECT if it becomes too long,
/// NC_ERR_NO_MEMORY.
NC_NODISCARD nc_status nc_redirect_keep_credentials(nc_buf *url, nc_slice asked, nc_error *err);

#endif
