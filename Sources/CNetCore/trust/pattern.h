/// Host names and patterns that match them. Pure text; no name is resolved.
#ifndef NETCORE_PRIVATE_PATTERN_H
#define NETCORE_PRIVATE_PATTERN_H

#include <netcore/bytes.h>
#include <netcore/status.h>

enum { NC_MAX_HOST_BYTES = 253 };

/// A host in canonical form: lower case, no final dot, addresses in the system's spelling.
typedef struct nc_host_name {
    char text[NC_MAX_HOST_BYTES + 1];
    uint16_t length;
    bool is_address;
} nc_host_name;

/// The kinds of patterns, the narrowest first.
typedef enum nc_pattern_kind {
    NC_PATTERN_EXACT,     // this host
    NC_PATTERN_ONE_LABEL, // one label before the name
    NC_PATTERN_ANY_DEPTH, // zero or more labels before the name
    NC_PATTERN_EVERY,     // every host
} nc_pattern_kind;

typedef struct nc_pattern {
    nc_host_name host; // the part after the stars
    uint16_t port;     // 0 means any port
    nc_pattern_kind kind;
} nc_pattern;

/// Parses the host of a URL or the name of a pattern. Returns false if it is neither a name nor an address.
NC_NODISCARD bool nc_host_name_parse(nc_host_name *out, nc_slice text);

/// Parses a pattern. Fails with NC_ERR_BAD_PIN and the reason in `err`.
NC_NODISCARD nc_status nc_pattern_parse(nc_pattern *out, nc_slice text, nc_error *err);
/// Returns true if the pattern matches the host and port; port 0 matches any port.
bool nc_pattern_covers(const nc_pattern *pattern, const nc_host_name *host, uint16_t port);
/// Compares patterns, the narrower first. Returns a negative value, 0 (the same pattern) or a positive value.
int nc_pattern_compare(const nc_pattern *a, const nc_pattern *b);

#endif
