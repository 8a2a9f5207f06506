#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension JSONShape {
    /// The shape of what a type decodes, found by letting it decode made-up values.
    ///
    ///     let shape = try JSONShape(for: [City].self)
    ///
    /// Members that are decoded are wanted, with their types; those that are decoded if present, or without which the
    /// type gets along, may be absent or null. An enumeration of raw values that lists its cases (`CaseIterable`) is one
    /// of these. What the type tolerates, the shape allows: where it cannot tell, it says `any`. So it is with types
    /// within themselves, the values of dictionaries, and types that try one thing after another.
    ///
    /// Throws ``NetError/Code/badShape`` for types that do not decode from zeros and empty texts, such as enumerations
    /// with values of their own or without a list of cases, and for decoders that change names.
    /// - Parameters:
    ///   - type: the type that will be decoded.
    ///   - decoder: how dates and data are written.
    ///   - samples: values of types that cannot be made up.
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
