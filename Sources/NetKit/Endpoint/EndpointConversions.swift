#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type that an ``Endpoint`` may give its ``EndpointMembers/method``: ``Method`` or `String`.
public protocol MethodConvertible {
    /// The method.
    var _method: Method { get }
}

extension Method: MethodConvertible {
    /// The method itself.
    public var _method: Method { self }
}

extension String: MethodConvertible {
    /// The method with this name, in the given spelling.
    public var _method: Method { Method(rawValue: self) }
}

/// A type that an ``Endpoint`` may give its ``EndpointMembers/headers``: ``Headers``, `[String: String]`, or an optional
/// of them.
public protocol HeadersConvertible {
    /// The fields.
    var _headers: Headers { get }
}

extension Headers: HeadersConvertible {
    /// The fields themselves.
    public var _headers: Headers { self }
}

extension [String: String]: HeadersConvertible {
    /// The fields, sorted by name.
    public var _headers: Headers {
        var headers = Headers()
        for (name, value) in sorted(by: { $0.key < $1.key }) {
            headers.append(name: name, value: value)
        }
        return headers
    }
}

extension Optional: HeadersConvertible where Wrapped: HeadersConvertible {
    /// The fields; none for `nil`.
    public var _headers: Headers { self?._headers ?? [:] }
}

/// A type that an ``Endpoint`` may give its ``EndpointMembers/body``: ``Body``, ``Bytes``, `[UInt8]`, `Data`, or an
/// optional of them.
///
/// An encodable value is not a body, because its format is unknown: return `.json(value)`.
public protocol BodyConvertible {
    /// The body; `nil` sends none.
    var _body: Body? { get }
}

extension Body: BodyConvertible {
    /// The body itself.
    public var _body: Body? { self }
}

extension BodyConvertible where Self: BytesConvertible {
    /// A body of these bytes, without Content-Type.
    public var _body: Body? { Body(self) }
}

extension Bytes: BodyConvertible {}
extension [UInt8]: BodyConvertible {}
extension Data: BodyConvertible {}

extension Optional: BodyConvertible where Wrapped: BodyConvertible {
    /// The body; `nil` sends none.
    public var _body: Body? { self?._body }
}

/// A type that may stand for a value that can be missing: the value, or an optional of it.
public protocol OptionalConvertible<Wrapped> {
    /// The type of the value.
    associatedtype Wrapped = Self
    /// The value; `nil` if there is none.
    var _optional: Wrapped? { get }
}

extension Optional: OptionalConvertible {
    /// The optional itself.
    public var _optional: Wrapped? { self }
}

extension OptionalConvertible where Wrapped == Self {
    /// The value itself.
    public var _optional: Self? { self }
}

extension String: OptionalConvertible {}
extension URL: OptionalConvertible {}
extension Bool: OptionalConvertible {}
extension Int: OptionalConvertible {}
extension Array: OptionalConvertible {}
extension Dictionary: OptionalConvertible {}
extension ParameterPlacement: OptionalConvertible {}
extension Credentials: OptionalConvertible {}
extension Limits: OptionalConvertible {}
extension Duration: OptionalConvertible {}
extension CacheRules: OptionalConvertible {}
extension RedirectPolicy: OptionalConvertible {}
extension RetryPolicy: OptionalConvertible {}
extension Priority: OptionalConvertible {}
extension JSONShape: OptionalConvertible {}
extension Service: OptionalConvertible {}
extension Request: OptionalConvertible {}

/// A type that an ``Endpoint`` may give its ``EndpointMembers/parameters`` and ``EndpointMembers/query``:
/// ``Parameters``, ``ParameterList``, a dictionary with encodable values, or an optional of them.
public protocol ParametersConvertible {
    /// The parameters; `nil` if there are none.
    var _parameters: Parameters? { get }
}

extension Parameters: ParametersConvertible {
    /// The parameters themselves.
    public var _parameters: Parameters? { self }
}

extension ParameterList: ParametersConvertible {
    /// The parameters of the list.
    public var _parameters: Parameters? { Parameters(self) }
}

extension Dictionary: ParametersConvertible where Key == String, Value: Encodable {
    /// The values, sorted by name.
    public var _parameters: Parameters? { Parameters(self) }
}

extension Optional: ParametersConvertible where Wrapped: ParametersConvertible {
    /// The parameters; `nil` if there are none.
    public var _parameters: Parameters? { self?._parameters }
}

/// Builds the parameters of an ``Endpoint`` from the expression in its property.
///
///     var parameters: Parameters? { ["q": text, "page": page] }
///     var parameters: Parameters? { filter }      // any Encodable value
///
/// The expression may depend on `if` and `switch`. A property with `return` is not changed by the builder.
@resultBuilder
public enum ParametersBuilder {
    /// The parameters of an expression, before the type of the property is known.
    public struct Component {
        let parameters: Parameters?
    }

    /// Accepts parameters.
    public static func buildExpression(_ parameters: Parameters?) -> Component { Component(parameters: parameters) }

    /// Accepts a dictionary literal with variables.
    public static func buildExpression(_ parameters: ParameterList) -> Component {
        Component(parameters: Parameters(parameters))
    }

    /// Accepts an encodable value.
    @_disfavoredOverload
    public static func buildExpression(_ parameters: some Encodable) -> Component {
        Component(parameters: Parameters(parameters))
    }

    /// Accepts a dictionary of encodable values of several types.
    @_disfavoredOverload
    public static func buildExpression(_ parameters: [String: any Encodable & Sendable]) -> Component {
        Component(parameters: Parameters(parameters))
    }

    /// Returns the only expression.
    public static func buildBlock(_ component: Component) -> Component { component }

    /// Returns no parameters.
    public static func buildBlock() -> Component { Component(parameters: nil) }

    /// Returns the expression of a branch.
    public static func buildEither(first component: Component) -> Component { component }

    /// Returns the expression of a branch.
    public static func buildEither(second component: Component) -> Component { component }

    /// Returns the expression of an `if` without `else`; no parameters if the condition is false.
    public static func buildOptional(_ component: Component?) -> Component { component ?? buildBlock() }

    /// Returns the parameters.
    public static func buildFinalResult(_ component: Component) -> Parameters? { component.parameters }

    /// Returns the parameters; an empty object if there are none.
    public static func buildFinalResult(_ component: Component) -> Parameters { component.parameters ?? [:] }
}
