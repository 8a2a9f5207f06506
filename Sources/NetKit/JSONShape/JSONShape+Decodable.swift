#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension JSONShape {
    /// Derives the shape that a type decodes, by letting it decode generated values.
    ///
    ///     let shape = try JSONShape(for: [City].self)
    ///
    /// - A member that is decoded is required, with its type.
    /// - A member that is decoded if present, or that the type does not need, may be absent or null.
    /// - An enumeration of raw values that lists its cases (`CaseIterable`) is one of these values.
    ///
    /// The shape allows everything that the type tolerates. Where that is unknown it is `any`: for recursive types, the
    /// values of dictionaries, and types that try several decodings.
    ///
    /// Throws ``NetError/Code/badShape`` for types that do not decode from zeros and empty strings. Examples are
    /// enumerations with associated values or without a list of cases. Also thrown for decoders that convert names.
    /// - Parameters:
    ///   - type: the type that will be decoded.
    ///   - decoder: its strategies determine how dates and data are written.
    ///   - samples: values of types that cannot be generated.
    public init<Value: Decodable>(
        for type: Value.Type, decoder: JSONDecoder = JSONDecoder(), samples: [any Decodable & Sendable] = []
    ) throws(NetError) {
        do {
            self = try ShapeProbe(ShapeStrategies(decoder, samples: samples)).shape(of: type)
        } catch {
            let reason = (error as? Underivable)?.message ?? "\(error)"
            throw NetError(.badShape, "no shape can be derived for \(type): \(reason)", underlying: error)
        }
    }
}
