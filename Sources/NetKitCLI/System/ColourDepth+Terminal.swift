#if Images
#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

extension ColourDepth {
    /// The colour depth of standard output, or `nil` if it is not a terminal with colours.
    static var ofStandardOutput: ColourDepth? {
        guard Terminal.hasColours else { return nil }
        return ColourDepth(term: variable("TERM"), colourTerm: variable("COLORTERM"))
    }

    private static func variable(_ name: String) -> String {
        unsafe getenv(name).map { unsafe String(cString: $0) } ?? ""
    }
}
#endif
