/// The messages of a WebSocket, over as many connections as needed.
struct ReconnectingWebSocket: AsyncSequence, Sendable {
    /// Opens a connection with this number.
    let connect: @Sendable (_ connection: Int) async throws(NetError) -> WebSocket
    let options: WebSocket.ReconnectionOptions

    /// Returns an iterator. It connects when the first message is requested.
    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(connect: connect, options: options)
    }

    /// Returns the messages one by one.
    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let connect: @Sendable (_ connection: Int) async throws(NetError) -> WebSocket
        fileprivate let options: WebSocket.ReconnectionOptions
        private var socket: WebSocket?
        private var connections = 0
        private var failures = 0
        private var isOver = false

        fileprivate init(
            connect: @escaping @Sendable (_ connection: Int) async throws(NetError) -> WebSocket,
            options: WebSocket.ReconnectionOptions
        ) {
            self.connect = connect
            self.options = options
        }

        /// Returns the next message, or `nil` after the end.
        mutating func next(isolation actor: isolated (any Actor)?) async throws(NetError) -> WebSocket.Message? {
            while !isOver {
                do throws(NetError) {
                    if let message = try await nextOfConnection() {
                        failures = 0
                        return message
                    }
                } catch {
                    isOver = true
                    socket = nil
                    throw error
                }
            }
            return nil
        }

        /// Returns the next message of the current connection. If the connection is over, waits and returns `nil`.
        private mutating func nextOfConnection() async throws(NetError) -> WebSocket.Message? {
            let failure: NetError
            do throws(NetError) {
                if let message = try await open().next() {
                    return message
                }
                guard let frame = socket?.closeFrame, options.reconnects(frame) else {
                    isOver = true
                    socket = nil
                    return nil
                }
                failure = NetError(.closedByServer, "the server closed the WebSocket with code \(frame.code)")
            } catch {
                if let frame = socket?.closeFrame, error.code == .closedByServer, !options.reconnects(frame) {
                    throw error
                }
                failure = error
            }
            socket = nil
            try await wait(after: failure)
            return nil
        }

        private mutating func open() async throws(NetError) -> WebSocket {
            if let socket {
                return socket
            }
            connections += 1
            let opened = try await connect(connections - 1)
            socket = opened
            do {
                try await options.opened?(opened)
            } catch {
                throw NetError(wrapping: error, .stoppedByCaller, "the hook for an open WebSocket failed")
            }
            return opened
        }

        /// Waits before the next connection. Throws the error if there is none.
        private mutating func wait(after failure: NetError) async throws(NetError) {
            let rules = RetryRules(
                maxRetries: options.maxFailures ?? .max, baseDelay: options.baseDelay, maxDelay: options.maxDelay,
                maxServerDelay: .seconds(300), hasJitter: options.hasJitter)
            let attempt = RetryRules.Attempt(
                method: .get, hasIdempotencyKey: false, result: failure.reconnection, retries: failures,
                epochSeconds: options.time.epochSeconds())
            guard let delay = rules.delay(after: attempt, random: options.random) else { throw failure }
            failures += 1
            do {
                try await options.time.sleep(delay)
            } catch {
                throw error as? NetError
                    ?? NetError(.cancelled, "the task was cancelled between two connections", underlying: error)
            }
        }
    }
}

extension WebSocket {
    /// Options of a reconnecting sequence.
    public struct ReconnectionOptions: Sendable {
        /// The options of each socket.
        public var socket = WebSocket.Options()
        /// The largest number of failures in succession (20). Receiving a message resets the number. If `nil`, there is
        /// no limit.
        public var maxFailures: Int? = 20
        /// The upper limit of the first delay (1 s). It doubles for each further failure.
        public var baseDelay: Duration = .seconds(1)
        /// The upper limit of every delay (30 s), except for delays from `Retry-After`.
        public var maxDelay: Duration = .seconds(30)
        /// Whether delays are random parts of their intervals, so that clients do not all reconnect at the same time.
        public var hasJitter = true
        /// Whether a close frame of the server is temporary, so that another connection is opened. By default it is if
        /// its code is (``WebSocket/CloseCode/isTemporary``).
        public var reconnects: @Sendable (WebSocket.CloseFrame) -> Bool = { $0.code.isTemporary }
        /// Returns the request for a connection, such as one that names the last received message. The number counts
        /// the connections, from 0. If it throws an error that is not temporary, the sequence throws it.
        public var resume: (@Sendable (_ request: Request<Bytes>, _ connection: Int) async throws -> Request<Bytes>)?
        /// Called when a connection is open, to send the first messages. If it throws an error that is not temporary,
        /// the sequence throws it.
        public var opened: (@Sendable (WebSocket) async throws -> Void)?
        /// The clock and the sleep function.
        package var time: TimeSource = .system
        /// Returns a random number from 0 to 1.
        package var random: @Sendable () -> Double = { Double.random(in: 0...1) }

        /// Creates the default options.
        public init() {}
    }
}

extension NetError {
    /// The result by which the core decides whether to connect again.
    fileprivate var reconnection: Result<RetryRules.Answer, NetError> {
        switch code {
        case .upgradeRefused:
            guard let response, Retry().statuses.contains(response.status) else { return .failure(self) }
            return .success(.init(status: response.status, headers: response.headers))
        case .closedByServer, .circuitOpen: return .failure(NetError(.reset, message))
        default: return .failure(NetError(code, message))
        }
    }
}

extension Agent {
    /// Returns the messages of a WebSocket that is opened again when its connection is lost.
    ///
    ///     for try await message in agent.reconnectingWebSocket("feed") { … }
    ///
    /// When a connection is lost, or the server closes it with a temporary code, the next one is opened after a random
    /// delay that grows with the number of failures. Messages that the server sent in between are lost, unless the
    /// server can resume: see ``WebSocket/ReconnectionOptions/resume`` and ``WebSocket/ReconnectionOptions/opened``.
    ///
    /// The sequence ends if the server closes the socket with ``WebSocket/CloseCode/normal``. It throws:
    /// - ``NetError/Code/closedByServer``, if the server closes the socket with a code for which
    ///   ``WebSocket/ReconnectionOptions/reconnects`` is false, such as 1008 or 4000
    /// - the last error, after ``WebSocket/ReconnectionOptions/maxFailures``, or if another attempt would not help
    /// - ``NetError/Code/cancelled``, if the task is cancelled; the socket is then closed
    ///
    /// Connects when the first message is requested. Each connection is one call; see ``webSocket(_:options:)``.
    /// - Parameters:
    ///   - call: the request, or a value that creates one for each connection.
    ///   - options: the options of the sequence.
    public func reconnectingWebSocket(
        _ call: some RequestConvertible, options: WebSocket.ReconnectionOptions = .init()
    ) -> some AsyncSequence<WebSocket.Message, NetError> & Sendable {
        let connect = { @Sendable (connection: Int) async throws(NetError) -> WebSocket in
            let request = try await call.callRequest()
            guard let resume = options.resume else { return try await self.webSocket(request, options: options.socket) }
            do {
                let resumed = try await resume(request.decoded(by: .bytes), connection)
                return try await self.webSocket(resumed, options: options.socket)
            } catch {
                throw NetError(wrapping: error, .stoppedByCaller, "the hook for a WebSocket's request failed")
            }
        }
        return ReconnectingWebSocket(connect: connect, options: options)
    }

    /// Returns the messages of a WebSocket to a path relative to ``Configuration/baseURL``, or to a URL.
    public func reconnectingWebSocket(
        _ path: some URLConvertible, options: WebSocket.ReconnectionOptions = .init()
    ) -> some AsyncSequence<WebSocket.Message, NetError> & Sendable {
        reconnectingWebSocket(Request<Void>(path), options: options)
    }
}
