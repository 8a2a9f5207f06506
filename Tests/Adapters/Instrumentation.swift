// swift-format-ignore-file: AllPublicDeclarationsHaveDocumentation

public import ServiceContextModule

/// Declares the part of swift-distributed-tracing that the adapter uses.
public protocol Injector: Sendable {
    associatedtype Carrier: Sendable

    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public protocol Instrument: Sendable {
    func inject<Carrier, Inject>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject: Injector, Inject.Carrier == Carrier
}

/// Declares the part of swift-distributed-tracing that the adapter uses.
public enum InstrumentationSystem {}
