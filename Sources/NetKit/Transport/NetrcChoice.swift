/// Whether names and passwords are read from a netrc file, for requests without credentials.
public enum NetrcChoice: Sendable, Hashable {
    /// They are not.
    case off
    /// From ~/.netrc.
    case home
    /// From this file.
    case file(String)
}
