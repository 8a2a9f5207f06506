#if Tracing
public import NetKit
internal import Synchronization
public import Tracing

/// Traces calls with swift-distributed-tracing: a client span for each call, and a child span for each attempt.
///
///     configuration.interceptors = RequestTracing().around([Retry(), Caching()])
///
/// The span of a call includes the waits of the interceptors in between, and is the only one if a cache has the
/// response. The span of an attempt ends when the transport has returned the response. For a streamed body, both end
/// with the response head. The context of the attempt's span is sent to the server, for example as `traceparent`.
///
/// The attributes have the names of OpenTelemetry's conventions for HTTP clients. Secrets in `url.full` are hidden.
public struct RequestTracing: Sendable {
    fileprivate let tracer: (any Tracer)?
    fileprivate let redaction: Redaction

    /// Creates the interceptors' settings.
    ///
    /// - Parameters:
    ///   - tracer: the tracer. If `nil`, the one of the `InstrumentationSystem` when a call begins.
    ///   - redaction: recognizes secrets in URLs.
    public init(tracer: (any Tracer)? = nil, hiding redaction: Redaction = Redaction()) {
        self.tracer = tracer
        self.redaction = redaction
    }

    /// Returns these interceptors between those that trace the calls and those that trace the attempts.
    ///
    /// The context is sent only to origins that get the agent's additions (``NetKit/Agent/Configuration/trustedOrigins``).
    /// It replaces a `traceparent` that the request or another interceptor has set.
    public func around(_ interceptors: [any Interceptor] = []) -> [any Interceptor] {
        [CallTracing(settings: self)] + interceptors + [
            AttemptTracing(settings: self), ContextInjection(settings: self),
        ]
    }

    fileprivate var currentTracer: any Tracer { tracer ?? InstrumentationSystem.tracer }

    /// Continues with a call inside a span. `start` adds attributes to it.
    fileprivate func trace(
        _ call: Call, _ next: Next, _ start: (inout SpanAttributes) -> Void
    ) async throws -> ChainResponse {
        let request = call.request
        let span = currentTracer.startSpan(Self.name(of: request.method), ofKind: .client)
        defer { span.end() }
        span.updateAttributes { attributes in
            Self.describe(request, redaction, in: &attributes)
            start(&attributes)
        }
        do {
            let response = try await ServiceContext.withValue(span.context) { try await next(call) }
            span.updateAttributes { Self.describe(response.status, response.metrics, in: &$0) }
            if response.status >= 400 {
                span.attributes["error.type"] = "\(response.status)"
                span.setStatus(SpanStatus(code: .error))
            }
            return response
        } catch {
            let failure = error as? NetError
            span.updateAttributes { attributes in
                Self.describe(failure?.response?.status, failure?.metrics ?? Metrics(), in: &attributes)
                attributes["error.type"] = failure.map { "\($0.code)" } ?? "\(type(of: error))"
            }
            span.setStatus(SpanStatus(code: .error, message: failure?.message))
            throw error
        }
    }
}

extension RequestTracing {
    private static let knownMethods = [
        "CONNECT", "DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "POST", "PUT", "QUERY", "TRACE",
    ]

    /// An unknown method is not a part of the name, because it may have any number of values.
    private static func name(of method: Method) -> String {
        knownMethods.contains(method.rawValue) ? method.rawValue : "HTTP"
    }

    private static func describe(
        _ request: Request<Bytes>, _ redaction: Redaction, in attributes: inout SpanAttributes
    ) {
        let method = request.method.rawValue
        if knownMethods.contains(method) {
            attributes["http.request.method"] = method
        } else {
            attributes["http.request.method"] = "_OTHER"
            attributes["http.request.method_original"] = method
        }
        let url = redaction.hiding(url: request.url)
        attributes["url.full"] = url
        if let server = ServerAddress(url) {
            attributes["server.address"] = server.host
            attributes["server.port"] = server.port
        }
    }

    private static func describe(_ status: Int?, _ metrics: Metrics, in attributes: inout SpanAttributes) {
        if let status {
            attributes["http.response.status_code"] = status
        }
        let version: String? =
            switch metrics.last?.httpVersion {
            case .http1_0: "1.0"
            case .http1_1: "1.1"
            case .http2: "2"
            case .http3: "3"
            case .unknown, nil: nil
            }
        if let version {
            attributes["network.protocol.version"] = version
        }
    }
}

/// Host and port of a URL.
private struct ServerAddress {
    let host: String
    let port: Int

    /// Returns `nil` if the URL has no authority or an invalid port.
    init?(_ url: String) {
        guard let slashes = url.firstRange(of: "://") else { return nil }
        let isSecure = url[..<slashes.lowerBound].lowercased() == "https"
        var authority = url[slashes.upperBound...].prefix { !"/?#".contains($0) }
        if let at = authority.lastIndex(of: "@") {
            authority = authority[authority.index(after: at)...]
        }
        let portStart = authority.lastIndex(of: ":").flatMap { colon in
            authority[colon...].contains("]") ? nil : colon
        }
        let host = authority[..<(portStart ?? authority.endIndex)]
        let port = portStart.map { authority[authority.index(after: $0)...] } ?? ""
        guard !host.isEmpty, let number = port.isEmpty ? (isSecure ? 443 : 80) : Int(port) else { return nil }
        self.host = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : String(host)
        self.port = number
    }
}

/// The number of attempts of one call.
private final class AttemptCount: Sendable {
    @TaskLocal static var current: AttemptCount?

    private let count = Atomic(0)

    /// Returns the number of earlier attempts, and counts this one.
    func next() -> Int { count.wrappingAdd(1, ordering: .relaxed).oldValue }
}

private struct CallTracing: Interceptor {
    let settings: RequestTracing

    func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
        try await AttemptCount.$current.withValue(AttemptCount()) {
            try await settings.trace(call, next) { _ in }
        }
    }
}

private struct AttemptTracing: Interceptor {
    let settings: RequestTracing

    func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
        let resends = AttemptCount.current?.next() ?? 0
        return try await settings.trace(call, next) { attributes in
            if resends > 0 {
                attributes["http.request.resend_count"] = resends
            }
        }
    }
}

/// Adds the context of the current span to the request.
private struct ContextInjection: OriginBoundInterceptor {
    private struct FieldInjector: Injector {
        func inject(_ value: String, forKey key: String, into carrier: inout Headers) {
            carrier[key] = value
        }
    }

    let settings: RequestTracing

    func intercept(_ call: Call, next: Next) async throws -> ChainResponse {
        var call = call
        var fields: Headers = [:]
        if let context = ServiceContext.current {
            settings.currentTracer.inject(context, into: &fields, using: FieldInjector())
        }
        if fields["traceparent"] != nil {
            // tracestate must not be sent with a traceparent that it does not belong to (W3C Trace Context, 3.3).
            call.request.headers["tracestate"] = nil
        }
        for field in fields {
            call.request.headers.set(field)
        }
        return try await next(call)
    }
}
#endif
