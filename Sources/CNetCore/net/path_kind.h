/// What an interface is, by what the system says of it: a pure function.
#ifndef NETCORE_PRIVATE_PATH_KIND_H
#define NETCORE_PRIVATE_PATH_KIND_H

#include <netcore/path.h>

/// What a driver says beside the rest (DEVTYPE in sysfs).
typedef enum nc_path_hint {
    NC_PATH_HINT_NONE = 0,
    NC_PATH_HINT_WLAN = 1,
    NC_PATH_HINT_WWAN = 2,
} nc_path_hint;

/// What is known of an interface. Texts may be empty.
typedef struct nc_path_looks {
    bool is_loopback;
    /// The ARPHRD_ number.
    uint16_t hardware;
    /// IFLA_INFO_KIND, such as "veth" or "wireguard".
    nc_slice driver;
    nc_slice name;
    nc_path_hint hint;
} nc_path_looks;

/// The kernel's own words come first, then the driver's hint, then the name: a veth says nothing of what it stands for.
nc_path_kind nc_path_kind_of(const nc_path_looks *looks);
/// True when a hint could change the answer.
bool nc_path_kind_wants_hint(const nc_path_looks *looks);

#endif
