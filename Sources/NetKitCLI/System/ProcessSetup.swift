#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif
import CNetCore

/// Prepares the standard streams, the libraries and the arguments of the process.
enum ProcessSetup {
    /// Opens /dev/null for each standard stream that is closed. Otherwise the next file, pipe or socket would get the
    /// number of that stream, and would receive the output for the terminal. It is opened for reading only, so that
    /// writing to it still fails.
    static func openStandardDescriptors() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// Initializes libcurl and OpenSSL. If that fails, an agent's first request reports the error.
    static func prepareLibraries() {
        _ = nc_engine_prepare(nil)
    }

    /// Returns the value of an environment variable.
    static func variable(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }

    /// Returns the arguments without the name of the program. An argument that is not UTF-8 is an error, because it
    /// would be changed by its conversion to a String.
    static func words() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let start = unsafe CommandLine.unsafeArgv[index], let word = unsafe String(validatingCString: start)
            else {
                throw UsageError("argument \(index) is not UTF-8")
            }
            words.append(word)
        }
        return words
    }
}
