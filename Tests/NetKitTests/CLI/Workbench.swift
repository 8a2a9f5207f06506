#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif
import Dispatch

/// The result of one process of `nk`.
struct Outcome: Sendable {
    let code: Int32
    let bytes: [UInt8]
    let errors: String

    var text: String { String(decoding: bytes, as: UTF8.self) }
    /// The lines of the text, without the carriage returns of response heads.
    var lines: [String] {
        text.split(whereSeparator: \.isNewline).map(String.init)
    }
    var errorLines: [String] {
        errors.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
    }
}

/// The destination of standard output.
enum StandardOutput {
    case kept
    /// A pipe without a reader.
    case closedPipe
    /// /dev/null.
    case device
    /// The same terminal as standard error.
    case terminal
}

/// Runs the built `nk`, which is in the same directory as the tests, as a child process.
func nk(
    _ arguments: String..., input: [UInt8] = [], output: StandardOutput = .kept
) async throws -> Outcome {
    try await nk(arguments, input: input, output: output)
}

/// - Parameters:
///   - folder: The working directory, or `nil` for that of the tests.
///   - home: The value of `HOME`.
func nk(
    _ arguments: [String], input: [UInt8] = [], output: StandardOutput = .kept, folder: String? = nil,
    home: String? = nil
) async throws -> Outcome {
    let environment = RequestTask.ProcessEnvironment(folder: folder, home: home)
    return await (try RequestTask(arguments, input: input, output: output, environment: environment)).ended()
}

/// Runs a line of sh(1), in which "$0" is `nk` and "$@" are the arguments.
func nk(line: String, _ arguments: String...) async throws -> Outcome {
    let environment = RequestTask.ProcessEnvironment(line: line)
    return await (try RequestTask(arguments, input: [], output: .kept, environment: environment)).ended()
}

#if os(Linux)
/// Runs `nk` with a terminal as its standard error.
func nk(
    _ arguments: [String], output: StandardOutput = .kept, folder: String? = nil, terminal: PseudoTerminal
) async throws -> Outcome {
    let environment = RequestTask.ProcessEnvironment(folder: folder, terminal: terminal.end)
    return await (try RequestTask(arguments, input: [], output: output, environment: environment)).ended()
}
#endif

#if os(Linux)
/// Starts `nk` with a terminal for prompts, and does not wait.
func start(_ arguments: [String], asking terminal: PseudoTerminal) throws -> RequestTask {
    let environment = RequestTask.ProcessEnvironment(terminal: terminal.end, readsTerminal: true)
    return try RequestTask(arguments, input: [], output: .kept, environment: environment)
}
#endif

/// Starts `nk` and does not wait.
func start(_ arguments: [String]) throws -> RequestTask {
    try RequestTask(arguments, input: [], output: .kept, environment: RequestTask.ProcessEnvironment())
}

let SIGTERMNumber = SIGTERM
let SIGINTNumber = SIGINT
let SIGQUITNumber = SIGQUIT

/// A running process. Its output goes to unnamed files, so it never waits for a reader.
struct RequestTask: Sendable {
    fileprivate struct ProcessEnvironment {
        var folder: String?
        var home: String?
        var terminal: Int32?
        var readsTerminal = false
        var line: String?
    }

    private let process: pid_t
    private let output: Int32
    private let errors: Int32

    fileprivate init(
        _ arguments: [String], input: [UInt8], output kind: StandardOutput, environment: ProcessEnvironment
    ) throws {
        let inputFile = try Self.namelessFile(holding: input)
        defer { close(inputFile) }
        output = try Self.namelessFile()
        errors = try Self.namelessFile()
        let pipe =
            switch kind {
            case .kept: Int32?.none
            case .closedPipe: try Self.closedPipe()
            case .device: unsafe open("/dev/null", O_WRONLY | O_CLOEXEC)
            case .terminal: environment.terminal.map { fcntl($0, F_DUPFD_CLOEXEC, 0) }
            }
        defer {
            if let pipe {
                close(pipe)
            }
        }
        let typed = environment.readsTerminal ? environment.terminal : nil
        process = try Self.spawn(
            arguments, streams: [typed ?? inputFile, pipe ?? output, environment.terminal ?? errors], environment)
    }

    func send(_ signal: Int32) {
        kill(process, signal)
    }

    /// Kills the process and discards its output.
    func end() {
        send(SIGKILL)
        _ = outcome()
    }

    /// Waits until standard output has bytes or the process has ended.
    func waitForOutput() async {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "nk.output").async {
                // An ended process can receive signals until it is waited for.
                var state = unsafe siginfo_t()
                while unsafe lseek(output, 0, SEEK_END) == 0 && state.si_signo == 0 {
                    _ = unsafe waitid(P_PID, id_t(process), &state, WEXITED | WNOHANG | WNOWAIT)
                    sched_yield()
                }
                continuation.resume()
            }
        }
    }

    /// Waits for the first line of standard output. Returns `nil` if the process ended without one.
    func firstLine() async -> String? {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "nk.line").async {
                var line: String?
                while line == nil {
                    // Checked before the read: if the process has ended, all its output is there.
                    var state = unsafe siginfo_t()
                    _ = unsafe waitid(P_PID, id_t(process), &state, WEXITED | WNOHANG | WNOWAIT)
                    let bytes = Self.contents(of: output)
                    if let end = bytes.firstIndex(of: UInt8(ascii: "\n")) {
                        line = String(decoding: bytes[..<end], as: UTF8.self)
                    } else if unsafe state.si_signo != 0 {
                        break
                    }
                    sched_yield()
                }
                continuation.resume(returning: line)
            }
        }
    }

    /// Waits until the process has ended.
    func ended() async -> Outcome {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "nk").async { continuation.resume(returning: outcome()) }
        }
    }

    private func outcome() -> Outcome {
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0 && errno == EINTR {}
        defer {
            close(output)
            close(errors)
        }
        let isSignal = status & 0x7f != 0
        return Outcome(
            code: isSignal ? -(status & 0x7f) : (status >> 8) & 0xff, bytes: Self.contents(of: output),
            errors: String(decoding: Self.contents(of: errors), as: UTF8.self))
    }

    private static func spawn(_ arguments: [String], streams: [Int32], _ environment: ProcessEnvironment) throws
        -> pid_t
    {
        let program = try folderOfThisProgram() + "/nk"
        #if canImport(Glibc)
        var actions = unsafe posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t? = nil
        var attributes: posix_spawnattr_t? = nil
        #endif
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        unsafe posix_spawnattr_init(&attributes)
        defer { unsafe posix_spawnattr_destroy(&attributes) }
        // Starts the process as a shell in a terminal does. No signal is blocked, unlike on the threads of the tests.
        // No signal is ignored, unlike in a background job.
        var (blocked, usual) = (Self.signals(), Self.signals([SIGINT, SIGTERM, SIGHUP, SIGQUIT]))
        unsafe posix_spawnattr_setsigmask(&attributes, &blocked)
        unsafe posix_spawnattr_setsigdefault(&attributes, &usual)
        unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        for (number, stream) in streams.enumerated() {
            unsafe posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        Self.markInheritedDescriptors
        // env(1) changes the directory and the environment, and then executes `nk`.
        let kind = environment.terminal == nil ? [] : ["TERM=xterm"]
        let prefixArguments =
            (environment.folder.map { ["-C", $0] } ?? []) + (environment.home.map { ["HOME=\($0)"] } ?? []) + kind
        let commandLine = prefixArguments.isEmpty ? [program] : ["/usr/bin/env"] + prefixArguments + [program]
        let front = environment.line.map { ["/bin/sh", "-c", $0, program] } ?? commandLine
        var words = unsafe (front + arguments).map { unsafe strdup($0) } + [nil]
        defer { unsafe words.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let number = unsafe posix_spawn(&process, front[0], &actions, &attributes, &words, environ)
        if number != 0 {
            throw SystemFailure(call: "posix_spawn \(program)")
        }
        return process
    }

    /// Closes the descriptors that this process has inherited when a child starts. Otherwise a child that outlives its
    /// test would keep the pipe open through which `swift test` reads this process.
    private static let markInheritedDescriptors: Void = {
        for descriptor in Int32(3)..<1024 {
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0 {
                _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC)
            }
        }
    }()

    private static func signals(_ numbers: [Int32] = []) -> sigset_t {
        var signals = sigset_t()
        unsafe sigemptyset(&signals)
        for number in numbers {
            unsafe sigaddset(&signals, number)
        }
        return signals
    }

    private static func namelessFile(holding bytes: [UInt8] = []) throws -> Int32 {
        var path = Array("/tmp/nk-test-XXXXXX\0".utf8CString)
        let descriptor = unsafe mkstemp(&path)
        guard descriptor >= 0 else { throw SystemFailure(call: "mkstemp") }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unsafe unlink(path)
        let count = unsafe pwrite(descriptor, bytes, bytes.count, 0)
        guard count == bytes.count else { throw SystemFailure(call: "pwrite") }
        return descriptor
    }

    private static func closedPipe() throws -> Int32 {
        var ends: [Int32] = [0, 0]
        guard unsafe pipe(&ends) == 0 else { throw SystemFailure(call: "pipe") }
        close(ends[0])
        _ = fcntl(ends[1], F_SETFD, FD_CLOEXEC)
        return ends[1]
    }

    fileprivate static func contents(of descriptor: Int32) -> [UInt8] {
        let length = Int(lseek(descriptor, 0, SEEK_END))
        if length <= 0 {
            return []  // The initializer writes to the shared empty array, which the thread sanitizer reports.
        }
        return unsafe [UInt8](unsafeUninitializedCapacity: length) { buffer, count in
            count = unsafe max(0, pread(descriptor, buffer.baseAddress, length, 0))
        }
    }
}

private func folderOfThisProgram() throws -> String {
    #if canImport(Glibc)
    var path = [UInt8](repeating: 0, count: 4096)
    let room = path.count
    let length = unsafe path.withUnsafeMutableBufferPointer { buffer in
        unsafe buffer.withMemoryRebound(to: CChar.self) { characters in
            guard let base = characters.baseAddress else { return -1 }
            return unsafe readlink("/proc/self/exe", base, room)
        }
    }
    guard length > 0 else { throw SystemFailure(call: "readlink") }
    let program = String(decoding: path.prefix(length), as: UTF8.self)
    #else
    let program = CommandLine.arguments[0]
    #endif
    return program.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
}
