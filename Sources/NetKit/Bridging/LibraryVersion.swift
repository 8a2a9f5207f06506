internal import CNetCore

/// NetKit's version, from the core.
enum LibraryVersion {
    static var text: String { unsafe String(cString: nc_version()) }
}
