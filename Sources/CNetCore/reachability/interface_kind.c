#include "reachability/route_table.h"

#include <string.h>

/// ARPHRD_* numbers of <linux/if_arp.h>, which are the same for every processor.
enum {
    HARDWARE_ETHERNET = 1,
    HARDWARE_INFINIBAND = 32,
    HARDWARE_PPP = 512,
    HARDWARE_RAW_IP = 519,
    HARDWARE_TUNNEL = 768,
    HARDWARE_TUNNEL6 = 769,
    HARDWARE_SIT = 776,
    HARDWARE_GRE = 778,
    HARDWARE_WIRELESS = 801, // 802 and 803 are the numbers of its monitor mode
    HARDWARE_GRE6 = 823,
    HARDWARE_NONE = 65534,
};

typedef struct word {
    const char *text;
    nc_path_kind kind;
} word;

static const word drivers[] = {
    {"tun", NC_PATH_KIND_VPN},       {"wireguard", NC_PATH_KIND_VPN}, {"ovpn", NC_PATH_KIND_VPN},
    {"ipip", NC_PATH_KIND_VPN},      {"ip6tnl", NC_PATH_KIND_VPN},    {"sit", NC_PATH_KIND_VPN},
    {"gre", NC_PATH_KIND_VPN},       {"ip6gre", NC_PATH_KIND_VPN},    {"gretap", NC_PATH_KIND_VPN},
    {"ip6gretap", NC_PATH_KIND_VPN}, {"vti", NC_PATH_KIND_VPN},       {"vti6", NC_PATH_KIND_VPN},
    {"xfrm", NC_PATH_KIND_VPN},      {"ppp", NC_PATH_KIND_CELLULAR},  {"wwan", NC_PATH_KIND_CELLULAR},
    {"rmnet", NC_PATH_KIND_CELLULAR}};

/// Prefixes of interface names. The next character must not be a letter, unless the prefix ends in '*'.
static const word names[] = {
    {"wwan", NC_PATH_KIND_CELLULAR},   {"wwp*", NC_PATH_KIND_CELLULAR},    {"wwx*", NC_PATH_KIND_CELLULAR},
    {"wws", NC_PATH_KIND_CELLULAR},    {"wwo", NC_PATH_KIND_CELLULAR},     {"wwu", NC_PATH_KIND_CELLULAR},
    {"rmnet*", NC_PATH_KIND_CELLULAR}, {"ccmni", NC_PATH_KIND_CELLULAR},   {"ppp", NC_PATH_KIND_CELLULAR},
    {"pdp_ip", NC_PATH_KIND_CELLULAR}, {"cdc-wdm", NC_PATH_KIND_CELLULAR}, {"wlan", NC_PATH_KIND_WIRELESS},
    {"wlp*", NC_PATH_KIND_WIRELESS},   {"wlx*", NC_PATH_KIND_WIRELESS},    {"wls", NC_PATH_KIND_WIRELESS},
    {"wlo", NC_PATH_KIND_WIRELESS},    {"wlu", NC_PATH_KIND_WIRELESS},     {"wifi", NC_PATH_KIND_WIRELESS},
    {"ath", NC_PATH_KIND_WIRELESS},    {"p2p*", NC_PATH_KIND_WIRELESS},    {"wl", NC_PATH_KIND_WIRELESS},
    {"tun", NC_PATH_KIND_VPN},         {"tap", NC_PATH_KIND_VPN},          {"wg*", NC_PATH_KIND_VPN},
    {"utun", NC_PATH_KIND_VPN},        {"ipsec", NC_PATH_KIND_VPN},        {"vti", NC_PATH_KIND_VPN},
    {"xfrm", NC_PATH_KIND_VPN},        {"tailscale", NC_PATH_KIND_VPN},    {"vpn*", NC_PATH_KIND_VPN},
    {"zt*", NC_PATH_KIND_VPN},
};

static bool begins(nc_slice name, const char *beginning) {
    size_t length = strlen(beginning);
    bool takes_all = beginning[length - 1] == '*';
    length -= takes_all ? 1 : 0;
    if (name.length < length || memcmp(name.data, beginning, length) != 0) {
        return false;
    }
    if (takes_all || name.length == length) {
        return true;
    }
    uint8_t next = name.data[length] | 0x20;
    return next < 'a' || next > 'z';
}

static nc_path_kind kind_of_driver(nc_slice driver) {
    for (size_t i = 0; i < sizeof drivers / sizeof *drivers; i++) {
        if (nc_slice_is_equal(driver, nc_slice_of(drivers[i].text))) {
            return drivers[i].kind;
        }
    }
    return NC_PATH_KIND_NONE;
}

/// Returns true for Android's IPv4 translation (464XLAT), which is named after the interface that carries it:
/// "v4-rmnet0".
static bool is_translation(nc_slice name) {
    return name.length > 3 && memcmp(name.data, "v4-", 3) == 0;
}

static nc_path_kind kind_of_name(nc_slice name) {
    if (is_translation(name)) {
        name = nc_slice_make(name.data + 3, name.length - 3);
    }
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (begins(name, names[i].text)) {
            return names[i].kind;
        }
    }
    return NC_PATH_KIND_NONE;
}

/// Returns the kind that a hardware type identifies. Ethernet identifies none: wireless links and modems have it too.
static nc_path_kind kind_of_hardware(uint16_t hardware) {
    switch (hardware) {
    case HARDWARE_PPP:
    case HARDWARE_RAW_IP:
        return NC_PATH_KIND_CELLULAR;
    case HARDWARE_TUNNEL:
    case HARDWARE_TUNNEL6:
    case HARDWARE_SIT:
    case HARDWARE_GRE:
    case HARDWARE_GRE6:
        return NC_PATH_KIND_VPN;
    case HARDWARE_WIRELESS:
    case HARDWARE_WIRELESS + 1:
    case HARDWARE_WIRELESS + 2:
        return NC_PATH_KIND_WIRELESS;
    default:
        return NC_PATH_KIND_NONE;
    }
}

nc_path_kind nc_path_kind_of(const nc_path_lookups *lookups) {
    if (lookups->is_loopback) {
        return NC_PATH_KIND_LOOPBACK;
    }
    nc_path_kind kind = is_translation(lookups->name) ? kind_of_name(lookups->name) : NC_PATH_KIND_NONE;
    kind = kind != NC_PATH_KIND_NONE ? kind : kind_of_driver(lookups->driver);
    kind = kind != NC_PATH_KIND_NONE ? kind : kind_of_hardware(lookups->hardware);
    if (kind == NC_PATH_KIND_NONE && lookups->hint != NC_PATH_HINT_NONE) {
        kind = lookups->hint == NC_PATH_HINT_WWAN ? NC_PATH_KIND_CELLULAR : NC_PATH_KIND_WIRELESS;
    }
    kind = kind != NC_PATH_KIND_NONE ? kind : kind_of_name(lookups->name);
    if (kind != NC_PATH_KIND_NONE) {
        return kind;
    }
    if (lookups->hardware == HARDWARE_NONE) {
        return NC_PATH_KIND_VPN;
    }
    bool is_cable = lookups->hardware == HARDWARE_ETHERNET || lookups->hardware == HARDWARE_INFINIBAND;
    return is_cable ? NC_PATH_KIND_WIRED : NC_PATH_KIND_OTHER;
}

bool nc_path_kind_wants_hint(const nc_path_lookups *lookups) {
    return !lookups->is_loopback && lookups->driver.length == 0 &&
           kind_of_hardware(lookups->hardware) == NC_PATH_KIND_NONE;
}
