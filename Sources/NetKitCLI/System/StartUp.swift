#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// What a process finds when it is started.
enum StartUp {
    /// Gives standard input, output and error that were closed a place to go: the next file, pipe or socket to be opened
    /// would otherwise get their numbers, and what is meant for a terminal would be written there. It can only be read, so
    /// that to write to what was closed fails, as it did: nobody has got what was written there.
    static func openStandardDescriptors() {
        for descriptor: Int32 in 0...2 where fcntl(descriptor, F_GETFD) < 0 {
            _ = unsafe open("/dev/null", O_RDONLY)
        }
    }

    /// The words behind the program's name; a word that is no UTF-8 would be another one as a String.
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
