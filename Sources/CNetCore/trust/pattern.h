/// The host patterns of trust rules. Only texts are compared; no name is resolved.
#ifndef NETCORE_PRIVATE_PATTERN_H
#define NETCORE_PRIVATE_PATTERN_H

#include "text/host.h"

#include <netcore/bytes.h>
#include <netcore/status.h>

/// The kinds of patterns, the narrowest first.
typedef enum nc_pattern_kind {
    NC_PATTERN_EXACT,     // the host itself
    NC_PATTERN_ONE_LABEL, // one label before the name
    NC_PATTERN_ANY_DEPTH, // zero or more labels before the name
    NC_PATTERN_EVERY,     // every host
} nc_pattern_kind;

typedef struct nc_pattern {
    nc_host_name host; // the host, or the name behind the stars
    uint16_t port;     // 0 means any port
    nc_pattern_kind kind;
} nc_pattern;

/// Parses a pattern. Fails with NC_ERR_BAD_PIN and the reason in `err`.
NC_NODISCARD nc_status nc_pattern_parse(nc_pattern *out, nc_slice text, nc_error *err);
/// Returns true if the pattern matches the host and port; port 0 matches any port.
bool nc_pattern_covers(const nc_pattern *pattern, const nc_host_name *host, uint16_t port);
/// Compares two patterns for sorting, the narrower first. Returns a negative value, 0 if they are the same, or a
/// positive value.
int nc_pattern_compare(const nc_pattern *a, const nc_pattern *b);

#endif
