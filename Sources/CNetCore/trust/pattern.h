/// Hosts and the patterns that cover them: pure text, no name is looked up.
#ifndef NETCORE_PRIVATE_PATTERN_H
#define NETCORE_PRIVATE_PATTERN_H

#include <netcore/bytes.h>
#include <netcore/status.h>

enum { NC_MAX_HOST_BYTES = 253 };

/// A host in the one form in which hosts are compared: lower case, no final dot, addresses as the system writes them.
typedef struct nc_host_name {
    char text[NC_MAX_HOST_BYTES + 1];
    uint16_t length;
    bool is_address;
} nc_host_name;

/// What a pattern covers, the narrowest first.
typedef enum nc_pattern_kind {
    NC_PATTERN_EXACT,     // this host
    NC_PATTERN_ONE_LABEL, // one label before the name
    NC_PATTERN_ANY_DEPTH, // any number of labels before the name, also none
    NC_PATTERN_EVERY,     // every host
} nc_pattern_kind;

typedef struct nc_pattern {
    nc_host_name host; // what stands behind the stars
    uint16_t port;     // 0 is any
    nc_pattern_kind kind;
} nc_pattern;

/// Takes a host of a URL, or a pattern's name, as it is written; false when it is neither a name nor an address.
NC_NODISCARD bool nc_host_name_parse(nc_host_name *out, nc_slice text);

/// Reads a pattern; NC_ERR_BAD_PIN says what is wrong.
NC_NODISCARD nc_status nc_pattern_parse(nc_pattern *out, nc_slice text, nc_error *err);
/// Whether the pattern covers the host on this port; port 0 is any of them.
bool nc_pattern_covers(const nc_pattern *pattern, const nc_host_name *host, uint16_t port);
/// Orders patterns, the narrower first: below 0, 0 (the same pattern), above 0.
int nc_pattern_compare(const nc_pattern *a, const nc_pattern *b);

#endif
