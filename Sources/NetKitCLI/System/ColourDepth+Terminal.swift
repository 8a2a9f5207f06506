#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension ColourDepth {
    /// That of standard output; nil where it is no terminal, or one without colours.
    static var ofStandardOutput: ColourDepth? {
        guard Terminal.hasColours else { return nil }
        return ColourDepth(term: variable("TERM"), colourTerm: variable("COLORTERM"))
    }

    private static func variable(_ name: String) -> String {
        unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
    }
}
