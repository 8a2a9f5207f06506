/// Properties of request methods (RFC 9110, 9.2). Methods are case-sensitive; an empty one means GET.
///
///     if (nc_method_is_idempotent(request.method)) { send_again(&request); }
#ifndef NETCORE_METHOD_H
#define NETCORE_METHOD_H

#include <netcore/base.h>
#include <netcore/bytes.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// Returns true for methods that change nothing on the server: GET, HEAD, OPTIONS, TRACE and QUERY.
///
/// Pure; call from any thread.
NC_API bool nc_method_is_safe(nc_slice method);

/// Returns true for methods that may be sent twice with the effect of once: the safe ones, PUT and DELETE.
///
/// Pure; call from any thread.
NC_API bool nc_method_is_idempotent(nc_slice method);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
