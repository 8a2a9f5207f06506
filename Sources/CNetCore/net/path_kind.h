/// Determines the kind of an interface from the system's description. Pure.
#ifndef NETCORE_PRIVATE_PATH_KIND_H
#define NETCORE_PRIVATE_PATH_KIND_H

#include <netcore/path.h>

/// A driver's additional hint (DEVTYPE in sysfs).
typedef enum nc_path_hint {
    NC_PATH_HINT_NONE = 0,
    NC_PATH_HINT_WLAN = 1,
    NC_PATH_HINT_WWAN = 2,
} nc_path_hint;

/// Properties of an interface. Texts may be empty.
typedef struct nc_path_looks {
    bool is_loopback;
    /// The ARPHRD_ number.
    uint16_t hardware;
    /// IFLA_INFO_KIND, such as "veth" or "wireguard".
    nc_slice driver;
    nc_slice name;
    nc_path_hint hint;
} nc_path_looks;

/// Returns the kind. The kernel's type comes first, then the driver's hint, then the name: a veth has no information
/// about its purpose.
nc_path_kind nc_path_kind_of(const nc_path_looks *looks);
/// Returns true if a hint could change the result.
bool nc_path_kind_wants_hint(const nc_path_looks *looks);

#endif
