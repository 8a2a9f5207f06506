internal import CNetCore

/// NetKit's version, as the core says it.
enum LibraryVersion {
    static var text: String { unsafe String(cString: nc_version()) }
}
