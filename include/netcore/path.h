/// Reachability: reports whether and how the internet or one host can be reached, and notifies of every change.
///
/// A monitor reads links, addresses and routes from the system (rtnetlink on Linux). The system reports each change, so
/// the monitor does not poll. It sends nothing to the network and needs no privileges.
///
/// - It detects a lost carrier, an interface without an address and a route of a rejecting type (unreachable, prohibit,
///   blackhole).
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
    /// Unknown, because the system does not report routes.
    NC_PATH_UNKNOWN = -1,
    /// There is no route.
    NC_PATH_NOT_REACHABLE = 0,
    /// There is a route over a modem, which may be metered.
    NC_PATH_VIA_CELLULAR = 1,
    /// There is a route over another kind of interface, or within this machine.
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
    /// Whether a route exists. If it leads through a VPN, the interfaces that carry the VPN decide: cellular if a modem
    /// is the only one.
    nc_path_status status;
    /// Kind of the interface that a packet would be sent through.
    nc_path_kind kind;
    /// If `kind` is a VPN: kind of the interface that carries it, or NC_PATH_KIND_VPN if none was found. Otherwise the
    /// same as `kind`.
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

/// Receives the first state, and each later state that differs from the one before. `state` is borrowed for the call.
typedef void (*nc_path_change_fn)(void *NC_NULLABLE ctx, const nc_path_state *state);
/// Called once, after the last nc_path_change_fn.
typedef void (*nc_path_end_fn)(void *NC_NULLABLE ctx);

/// Options of a monitor. A zeroed struct monitors the default routes without callbacks.
typedef struct nc_path_options {
    /// A numeric address ("192.0.2.1", "2001:db8::1", "[fe80::1%eth0]"), a name, or empty for the default routes.
    ///
    /// A name is resolved on a separate thread, at the start and after each change. Until it is resolved, and if that
    /// fails, the state is that of the default routes.
    nc_slice host;
    /// Passed to both callbacks.
    void *NC_NULLABLE ctx;
    /// Called on the monitor's thread, never concurrently. It must not block. May be NULL.
    nc_path_change_fn NC_NULLABLE on_change;
    /// Called on the monitor's thread after nc_path_release(), once, as the last callback. May be NULL.
    nc_path_end_fn NC_NULLABLE on_end;
} nc_path_options;

/// A monitor. Its thread sleeps until the system reports a change.
typedef struct nc_path nc_path;

/// Starts a monitor. When the function returns, the state is known. The first on_change reports that state.
///
/// - out:     owned by the caller; release it with nc_path_release().
/// - options: NULL means all zero; copied. A host has at most 255 bytes, without NUL.
/// Returns NC_OK, NC_ERR_USAGE (an invalid host), NC_ERR_UNSUPPORTED (this system or its sandbox does not report
/// changes; native_code is the errno), NC_ERR_DESCRIPTORS, NC_ERR_THREAD, NC_ERR_NO_MEMORY. After an error no callback
/// is called.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_path_new(nc_path *NC_NULLABLE *NC_NONNULL out,
                                          const nc_path_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Copies the current state: the last one reported, or before the first report the state that it will contain.
///
/// Never blocks.
/// Thread-safe.
NC_API void nc_path_current(nc_path *path, nc_path_state *out);

/// Releases a monitor. NULL is allowed.
///
/// Never blocks; legal on any thread, including the monitor's own callbacks. The pointer is invalid after the call. One
/// on_change may still be running or may follow; none follows on_end.
/// Thread-safe.
NC_API void nc_path_release(nc_path *NC_NULLABLE path);

/// Determines the current state, without a monitor.
///
/// If the host is a name, it waits for the system's resolver, which may take long. Otherwise it does not block. If the
/// name cannot be resolved, the state is that of the default routes.
///
/// - host: as in nc_path_options.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY.
/// Thread-safe.
NC_API NC_NODISCARD nc_status nc_path_lookup(nc_path_state *out, nc_slice host, nc_error *NC_NULLABLE err);

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
