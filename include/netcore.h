/// NetKit's C core: everything a caller includes, in one line.
#ifndef NETCORE_H
#define NETCORE_H

#include <netcore/base.h>
#include <netcore/body_source.h>
#include <netcore/bytes.h>
#include <netcore/cache_key.h>
#include <netcore/certificate.h>
#include <netcore/charset.h>
#include <netcore/cookies.h>
#include <netcore/credentials.h>
#include <netcore/digest.h>
#include <netcore/download.h>
#include <netcore/download_list.h>
#include <netcore/engine.h>
#include <netcore/engine_options.h>
#include <netcore/expectation.h>
#include <netcore/flatten.h>
#include <netcore/gzip.h>
#include <netcore/header.h>
#include <netcore/hooks.h>
#include <netcore/json.h>
#include <netcore/json_writer.h>
#include <netcore/media_type.h>
#include <netcore/memory_cache.h>
#include <netcore/multipart.h>
#include <netcore/params.h>
#include <netcore/parts.h>
#include <netcore/path.h>
#include <netcore/percent.h>
#include <netcore/proxy.h>
#include <netcore/query.h>
#include <netcore/request.h>
#include <netcore/response.h>
#include <netcore/shape.h>
#include <netcore/state_file.h>
#include <netcore/status.h>
#include <netcore/store.h>
#include <netcore/store_walk.h>
#include <netcore/trace.h>
#include <netcore/transfers.h>
#include <netcore/trust.h>
#include <netcore/trust_rules.h>
#include <netcore/trust_verdict.h>
#include <netcore/url.h>

#endif
