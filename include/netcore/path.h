/// Which way leads out: how the internet, or one host, is reached, and every change of that.
///
/// A monitor reads links, addresses and routes from the system (rtnetlink on Linux) and is told by it of each change:
/// nothing is polled and nothing is sent to the network. It needs no privileges. It tells whether a way begins here,
/// not whether anybody answers at its end: no captive portal, no firewall and no dead server is seen. A carrier that is
/// lost, an interface without an address and a route that refuses are seen. It watches the network namespace of the
/// thread that makes it.
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

/// Room for an interface's name, its NUL included.
#define NC_PATH_NAME_BYTES 16

/// Whether there is a way, and over what.
typedef NC_ENUM(nc_path_status){
    /// Nobody knows: the system does not tell.
    NC_PATH_UNKNOWN = -1,
    /// There is none.
    NC_PATH_NOT_REACHABLE = 0,
    /// Over a modem, which may cost.
    NC_PATH_VIA_CELLULAR = 1,
    /// Over anything else, also within this machine.
    NC_PATH_VIA_WIFI_OR_WIRED = 2,
} nc_path_status;

/// What an interface is.
typedef NC_ENUM(nc_path_kind){
    /// There is no interface.
    NC_PATH_KIND_NONE = 0,
    /// Ethernet and what looks like it: bridges, bonds, VLANs, virtual Ethernet of containers.
    NC_PATH_KIND_WIRED = 1,
    /// Wi-Fi.
    NC_PATH_KIND_WIRELESS = 2,
    /// A modem: wwan, rmnet, ppp.
    NC_PATH_KIND_CELLULAR = 3,
    /// A tunnel: tun, tap, WireGuard, IPsec, IP in IP.
    NC_PATH_KIND_VPN = 4,
    /// This machine itself.
    NC_PATH_KIND_LOOPBACK = 5,
    /// Anything else.
    NC_PATH_KIND_OTHER = 6,
} nc_path_kind;

/// How something is reached; two are equal when every field is.
typedef struct nc_path_state {
    /// Whether there is a way. Over a VPN it says what the VPN itself goes over: a modem, if that is all there is.
    nc_path_status status;
    /// The kind of the interface that the system would send over.
    nc_path_kind kind;
    /// The kind of what carries a VPN, NC_PATH_KIND_VPN when nothing is seen that might; otherwise as `kind`.
    nc_path_kind carrier;
    /// Whether IPv4 has a way.
    bool has_ipv4;
    /// Whether IPv6 has a way.
    bool has_ipv6;
    /// The interface's number; 0 when there is none.
    uint32_t interface_index;
    /// The interface's name, NUL-terminated; empty when there is none.
    char interface_name[NC_PATH_NAME_BYTES];
} nc_path_state;

/// Receives the first state and then each one that differs from the one before; borrowed for the call.
typedef void (*nc_path_change_fn)(void *NC_NULLABLE ctx, const nc_path_state *state);
/// Nothing is called any more.
typedef void (*nc_path_end_fn)(void *NC_NULLABLE ctx);

/// What to watch; all zero watches the way to the internet and tells nobody.
typedef struct nc_path_options {
    /// A numeric address ("192.0.2.1", "2001:db8::1", "[fe80::1%eth0]"), a name, or empty for the default routes.
    ///
    /// A name is looked up, on a thread of its own, at the beginning and after each change; until there is an answer,
    /// and when there is none, the default routes decide.
    nc_slice host;
    /// Handed to both callbacks.
    void *NC_NULLABLE ctx;
    /// Called on the monitor's thread, one call after the other; it must not block. May be NULL.
    nc_path_change_fn NC_NULLABLE on_change;
    /// Called once, last, on the monitor's thread, after the release. May be NULL.
    nc_path_end_fn NC_NULLABLE on_end;
} nc_path_options;

/// A monitor, with a thread of its own that sleeps until the system tells of something.
typedef struct nc_path nc_path;

/// Starts a monitor; the state is known when it returns, and on_change is told it first.
///
/// - out:     owned by the caller; give it up with nc_path_release().
/// - options: NULL means all zero; copied. A host is at most 255 bytes long, without NUL.
/// Returns NC_OK, NC_ERR_USAGE (the host), NC_ERR_UNSUPPORTED (this system, or its sandbox, does not tell; native_code
/// is the errno), NC_ERR_DESCRIPTORS, NC_ERR_THREAD, NC_ERR_NO_MEMORY; on failure nothing is called. Thread-safe.
NC_API NC_NODISCARD nc_status nc_path_new(nc_path *NC_NULLABLE *NC_NONNULL out,
                                          const nc_path_options *NC_NULLABLE options, nc_error *NC_NULLABLE err);

/// Copies the state that was told last, or will be told first.
///
/// Never blocks. Thread-safe.
NC_API void nc_path_current(nc_path *path, nc_path_state *out);

/// Gives the monitor up. NULL is harmless.
///
/// Never blocks; legal on any thread, in its own callbacks too. The pointer is invalid afterwards; on_change may still
/// be under way, or come once more, until on_end was called. Thread-safe.
NC_API void nc_path_release(nc_path *NC_NULLABLE path);

/// Looks once how something is reached, without a monitor.
///
/// For a name it waits for the system's resolver, which may take long; nothing else blocks. A name that cannot be
/// looked up is reached as the default routes say.
///
/// - host: as in nc_path_options.
/// Returns NC_OK, NC_ERR_USAGE, NC_ERR_UNSUPPORTED, NC_ERR_DESCRIPTORS, NC_ERR_NO_MEMORY. Thread-safe.
NC_API NC_NODISCARD nc_status nc_path_look(nc_path_state *out, nc_slice host, nc_error *NC_NULLABLE err);

/// Tells whether two states are equal.
///
/// Pure; call from any thread.
NC_API bool nc_path_state_is_equal(const nc_path_state *a, const nc_path_state *b);

/// Gives a kind its word: "none", "wired", "wireless", "cellular", "vpn", "loopback" or "other".
///
/// Returns a static string; "other" for an unknown number. Pure; call from any thread.
NC_API const char *nc_path_kind_name(nc_path_kind kind);

NC_ASSUME_NONNULL_END
NC_EXTERN_C_END

#endif
