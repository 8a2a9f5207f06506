/// The rules for redirects (RFC 9110, 15.4), as the engine applies them.
///
/// For callers that follow redirects themselves, with nc_request.redirects set to NC_REDIRECTS_RETURN. Nothing is sent.
///
///     nc_redirect_question question = {.status = 302, .url = url, .location = location, .max_redirects = 20};
///     nc_redirect_decision decision;
///     nc_buf next = nc_buf_init(NC_URL_MAX_BYTES + 1);
///     if (nc_redirect_decide(&decision, &next, &question, NULL) == NC_OK && decision.is_redirect)
///         send_to(nc_buf_slice(&next));
///     nc_buf_deinit(&next);
#ifndef NETCORE_REDIRECT_H
#define NETCORE_REDIRECT_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/request.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// A response that may be a redirect. Texts are borrowed for the call.
typedef struct nc_redirect_question {
    /// Status of the response.
    uint16_t status;
    /// URL of the request: absolute http or https, with its fragment and credentials.
    nc_slice url;
    /// The first Location field, in any bytes; empty if absent.
    nc_slice location;
    /// True if the request's method is HEAD.
    bool is_head;
    /// True if the request's method is POST.
    bool is_post;
    /// True keeps dot segments, also those of the Location (nc_request.keeps_dot_segments).
    bool keeps_dot_segments;
    /// The policy.
    nc_redirect_choice choice;
    /// Redirects that were followed before.
    uint32_t followed;
    /// Redirects to follow in all. NC_NO_REDIRECTS fails on the first one.
    uint32_t max_redirects;
} nc_redirect_question;

/// The decision on a response.
typedef struct nc_redirect_decision {
    /// False: the response is final.
    bool is_redirect;
    /// True: the next method is GET, without a body and the fields that describe it (nc_redirect_describes_body()).
    bool becomes_get;
    /// True: scheme, host or port differ, with hosts in canonical form. Credentials, a client certificate, a Unix
    /// socket, and the fields without nc_redirect_keeps_field() must not be sent.
    bool changes_origin;
} nc_redirect_decision;

/// Decides by RFC 9110, 15.4 and RFC 3986, 5.2, except for dot segments that are kept.
///
/// The next URL inherits the fragment of the requested one, unless the Location has its own. Spaces and bytes outside
/// ASCII in the Location are percent-encoded. A cross-origin URL has no credentials.
/// - out: the decision; all false after an error.
/// - url: an empty buffer with room for NC_URL_MAX_BYTES + 1 bytes. Receives the next URL, followed by a NUL that does
///   not count; the refused URL after NC_ERR_REDIRECT_REFUSED; otherwise nothing.
/// Returns NC_OK, NC_ERR_TOO_MANY_REDIRECTS, NC_ERR_REDIRECT_REFUSED (another scheme, or https to http),
/// NC_ERR_BAD_REDIRECT for an invalid Location, NC_ERR_USAGE, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_redirect_decide(nc_redirect_decision *out, nc_buf *url,
                                                 const nc_redirect_question *question, nc_error *NC_NULLABLE err);

/// Copies the credentials of the requested URL to the next one, if that has none. Call it for a redirect that is
/// same-origin: an absolute Location means the same target as a relative one, which inherits them (RFC 3986, 5.2.2).
///
/// - url: the result of nc_redirect_decide(). Unchanged after an error; a NUL follows that does not count.
/// Returns NC_OK, NC_ERR_BAD_REDIRECT if it becomes longer than NC_URL_MAX_BYTES, NC_ERR_NO_MEMORY.
/// Pure; call from any thread.
NC_API NC_NODISCARD nc_status nc_redirect_keep_credentials(nc_buf *url, nc_slice asked, nc_error *NC_NULLABLE err);

/// Returns true if a redirect with this status changes the method to GET: 303 except for HEAD; 301 and 302 for POST.
///
/// Pure; call from any thread.
NC_API bool nc_redirect_becomes_get(uint16_t status, bool is_head, bool is_post);

/// Returns true if a field of the request is sent after a cross-origin redirect: it selects a representation or
/// describes the request, and does not identify the user.
///
/// Pure; call from any thread.
NC_API bool nc_redirect_keeps_field(nc_slice name);

/// Returns true if a field describes the request's body: Content-* and Expect. It is dropped with the body.
///
/// Pure; call from any thread.
NC_API bool nc_redirect_describes_body(nc_slice name);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
