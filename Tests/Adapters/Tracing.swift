// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

@_exported public import Instrumentation
@_exported public import ServiceContextModule

/// Declares the part of swift-distributed-tracing that the adapter uses.
public protocol TracerInstant: Comparable, Hashable, Sendable {}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public struct DefaultTracerClock {
    public struct Timestamp: TracerInstant {
        public static func < (left: Timestamp, right: Timestamp) -> Bool { false }
    }

    public static var now: Timestamp { Timestamp() }
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public enum SpanKind: Hashable, Sendable { case server, client, producer, consumer, `internal` }

/// Declares the part of swift-distributed-tracing that the adapter uses.
public struct SpanStatus: Equatable, Sendable {
    public enum Code: Equatable, Sendable { case ok, error }

    public let code: Code
    public let message: String?

    public init(code: Code, message: String? = nil) {
        self.code = code
        self.message = message
    }
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public protocol SpanAttributeConvertible {}

extension String: SpanAttributeConvertible {}
extension Int: SpanAttributeConvertible {}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public struct SpanAttributes: Sendable {
    public subscript(_ name: String) -> (any SpanAttributeConvertible)? {
        get { nil }
        set {}
    }
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public protocol Span: Sendable {
    var context: ServiceContext { get }
    var attributes: SpanAttributes { get nonmutating set }

    func setStatus(_ status: SpanStatus)
    func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant)
}

extension Span {
    public func end() {}

    public func updateAttributes(_ update: (inout SpanAttributes) -> Void) {}
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public protocol Tracer: Instrument {
    associatedtype Span: Tracing.Span

    func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> Self.Span
}

extension Tracer {
    public func startSpan(
        _ operationName: String, context: @autoclosure () -> ServiceContext = .current ?? .topLevel,
        ofKind kind: SpanKind = .internal, at instant: @autoclosure () -> some TracerInstant = DefaultTracerClock.now,
        function: String = #function, file fileID: String = #fileID, line: UInt = #line
    ) -> Self.Span {
        startSpan(
            operationName, context: context(), ofKind: kind, at: instant(), function: function, file: fileID, line: line
        )
    }
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public struct NoOpTracer: Tracer {
    public struct NoOpSpan: Tracing.Span {
        public var context: ServiceContext { .topLevel }
        public var attributes: SpanAttributes {
            get { SpanAttributes() }
            nonmutating set {}
        }

        public func setStatus(_ status: SpanStatus) {}

        public func end<Instant: TracerInstant>(at instant: @autoclosure () -> Instant) {}
    }

    public func startSpan<Instant: TracerInstant>(
        _ operationName: String, context: @autoclosure () -> ServiceContext, ofKind kind: SpanKind,
        at instant: @autoclosure () -> Instant, function: String, file fileID: String, line: UInt
    ) -> NoOpSpan { NoOpSpan() }

    public func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Inject.Carrier == Carrier {}
}

extension InstrumentationSystem {
    public static var tracer: any Tracer { NoOpTracer() }
}
