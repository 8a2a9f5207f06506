/// Reachability: how the internet or one host is reached, with a notification of every change.
///
/// A monitor reads links, addresses and routes from the system (rtnetlink on Linux), which reports each change. It
/// polls nothing, sends nothing to the network and needs no privileges.
///
/// - It detects a lost carrier, an interface without an address and a rejecting route.
/// - It does not detect a captive portal, a firewall or an unresponsive server.
/// - It observes the network namespace of the thread that creates it.
///
///     nc_path_options options = {.on_change = print_state};
///     if (nc_path_new(&path, &options, &err) == NC_OK) …
///     nc_path_release(path);
#ifndef NETCORE_PATH_H
#define NETCORE_PATH_H

#include <netcore/base.h>
#include <netcore/bytes.h>
#include <netcore/status.h>

NC_EXTERN_C_BEGIN
NC_ASSUME_NONNULL_BEGIN

/// The size of an interface's name, including NUL.
#define NC_PATH_NAME_BYTES 16

/// Whether a route exists, and over which kind of interface.
typedef NC_ENUM(nc_path_status){
    /// Unknown: the system does not report it.
    NC_PATH_UNKNOWN = -1,
    /// There is no route.
    NC_PATH_NOT_REACHABLE = 0,
    /// Over a modem, which may be metered.
    NC_PATH_VIA_CELLULAR = 1,
    /// Over any other interface, also within this machine.
    NC_PATH_VIA_WIFI_OR_WIRED = 2,
} nc_path_status;

/// The kind of an interface.
typedef NC_ENUM(nc_path_kind){
    /// There is no interface.
    NC_PATH_KIND_NONE = 0,
    /// Ethernet and similar: bridges, bonds, VLANs, virtual Ethernet of containers.
    NC_PATH_KIND_WIRED = 1,
    /// Wi-Fi.
    NC_PATH_KIND_WIRELESS = 2,
    /// A modem: wwan, rmnet, ppp.
    NC_PATH_KIND_CELLULAR = 3,
    /// A tunnel: tun, tap, WireGuard, IPsec, IP in IP.
    NC_PATH_KIND_VPN = 4,
    /// Loopback.
    NC_PATH_KIND_LOOPBACK = 5,
    /// Any other kind.
    NC_PATH_KIND_OTHER = 6,
} nc_path_kind;

/// The state of reachability. Two states are equal if all fields are.
typedef struct nc_path_state {
    /// Whether a route exists. For a VPN it depends on the interfaces below: cellular if a modem is the only one.
    nc_path_status status;
    /// Kind of the interface that the system would use.
    nc_path_kind kind;
    /// Kind of the interface below a VPN; NC_PATH_KIND_VPN if none is found. Otherwise the same as `kind`.
    nc_path_kind carrier;
    /// True if IPv4 has a route.
    bool has_ipv4;
    /// True if IPv6 has a route.
    bool has_ipv6;
    /// Index of the interface; 0 without one.
    uint32_t interface_index;
    /// Name of the interface, NUL-terminated; empty without one.
    char interface_name[NC_PATH_NAME_BYTES];
} nc_path_state;

/// Receives the first state and each later one that differs, borrowed for the call.
typedef void (*nc_path_change_fn)(void *NC_NULLABLE ctx, const nc_path_state *state);
/// Called last. No other call follows.
typedef void (*nc_path_end_fn)(void *NC_NULLABLE ctx);

/// Options of a monitor. All zero monitors the default routes without callbacks.
typedef struct nc_path_options {
    /// A numeric address ("192.0.2.1", "2001:db8::1", "[fe80::1%eth0]"), a name, or empty for the default routes.
    ///
    /// A name is resolved on a separate thread, at the start and after each change. The default routes are used until
    /// it is resolved, and if that fails.
    nc_slice host;
    /// Passed to both callbacks.
    void *NC_NULLABLE ctx;
    /// Called on the monitor's thread, never concurrently. It must not block. May be NULL.
    nc_path_change_fn NC_NULLABLE on_change;
    /// Called once, last, on the monitor's thread, after the release. May be NULL.
    nc_path_end_fn NC_NULLABLE on_end;
} nc_path_options;

/// A monitor. Its thread sleeps until the system reports a change.
typedef struct nc_path nc_path;

/// Starts a monitor. The state is known when it returns, and the first on_change reports it.
///
/// - out:     owned by the caller; release it with nc_path_release().
/// - options: NULL means all zero; copied. A host has at most 255 bytes, without NUL.
/// Returns NC_OK, NC_ERR_USAGE (the host), NC_ERR_UNSUPPORTED (this system or its sandbox does not report changes;
/// native_code is the errno), NC_ERR_DESCRIPTORS, NC_ERR_THREAD, NC_ERR_NO_MEMORY. After an error no callback is
/// called.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_path_new(nc_path *NC_NULLABLE *NC_NONNULL out,
                                          const nc_path_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Copies the last reported state, or the one that will be reported first.
///
/// Never blocks.
/// Thread-safe.
NC_API void nc_path_current(nc_path *path, nc_path_state *out);

/// Releases a monitor. NULL is allowed.
///
/// Never blocks; legal on any thread, including its own callbacks. The pointer is invalid after the call. Until on_end
/// is called, one more on_change may be running or may follow.
/// Thread-safe.
NC_API void nc_path_release(nc_path *NC_NULLABLE path);

/// Returns the state once, without a monitor.
///
/// It waits for the system's resolver if the host is a name, which may take long. Nothing else blocks. If a name cannot
/// be resolved, the default routes are used.
///
/// - host: as in nc_path_options.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_path_look(nc_path_state *out, nc_slice host, nc_error *NC_NULLABLE err);

/// Returns true if two states are equal.
///
/// Pure; call from any thread.
NC_API bool nc_path_state_is_equal(const nc_path_state *a, const nc_path_state *b);

/// Returns the name of a kind: "none", "wired", "wireless", "cellular", "vpn", "loopback" or "other".
///
/// Returns a static string; "other" for an unknown number.
/// Pure; call from any thread.
NC_API const char *nc_path_kind_name(nc_path_kind kind);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
