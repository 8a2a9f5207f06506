/// The one place where libcurl's TLS contexts are reached.
#ifndef NETCORE_PRIVATE_TLS_HOOK_H
#define NETCORE_PRIVATE_TLS_HOOK_H

#include "net/lane.h"

#include <curl/curl.h>

/// Has every TLS context of this handle filled from the lane's authorities.
CURLcode nc_tls_hook_install(CURL *easy, const nc_lane *lane);

#endif
