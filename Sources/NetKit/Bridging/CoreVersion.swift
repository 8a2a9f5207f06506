internal import CNetCore

/// The version of the core and of all of NetKit.
var coreVersion: String {
    "\(NC_VERSION_MAJOR).\(NC_VERSION_MINOR).\(NC_VERSION_PATCH)"
}
