/// NetKit's C core: everything a caller includes, in one line.
#ifndef NETCORE_H
#define NETCORE_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/charset.h>
#include <netcore/cookies.h>
#include <netcore/credentials.h>
#include <netcore/engine.h>
#include <netcore/engine_options.h>
#include <netcore/hooks.h>
#include <netcore/proxy.h>
#include <netcore/request.h>
#include <netcore/response.h>
#include <netcore/status.h>
#include <netcore/trace.h>
#include <netcore/transfers.h>
#include <netcore/trust.h>
#include <netcore/url.h>

#endif
