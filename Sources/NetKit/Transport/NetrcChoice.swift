/// The netrc file for requests without credentials.
public enum NetrcChoice: Sendable, Hashable {
    /// No file.
    case off
    /// ~/.netrc.
    case home
    /// The file at this path.
    case file(String)
}
