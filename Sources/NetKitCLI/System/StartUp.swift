#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// Prepares the standard streams and the arguments of the process.
enum StartUp {
    /// Opens a placeholder for each of standard input, output and error that is closed. Otherwise the next file, pipe
    /// or socket would get its number and receive output for the terminal. The placeholder is read-only, so that
    /// writing to it still fails.
    static func openStandardDescriptors() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// The arguments after the program's name. An argument that is not UTF-8 is an error, because a String would change
    /// it.
    static func words() throws(UsageError) -> [String] {
        var words: [String] = []
        for index in 1..<max(1, Int(CommandLine.argc)) {
            guard let start = unsafe CommandLine.unsafeArgv[index], let word = unsafe String(validatingCString: start)
            else {
                throw UsageError("word \(index) of the command line is not UTF-8")
            }
            words.append(word)
        }
        return words
    }
}
