#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Converts any `Encodable` value into ``Parameters``.
///
///     struct Search: Encodable { var text: String, since: Date, isOpen: Bool }
///     let parameters = try Parameters(encoding: search, by: ParameterEncoder(keys: .snakeCase, dates: .secondsSince1970))
///
/// Fields keep the order in which the value encodes them. The fields of dictionaries are sorted, because dictionaries
/// have no order. A `Set` becomes ``Parameters/set(_:)``, a `URL` becomes a string, and a `Decimal` becomes
/// ``Parameters/number(_:)``. Thread-safe.
public struct ParameterEncoder: Sendable {
    /// How keys are named.
    public enum KeyStrategy: Sendable {
        /// Keys are unchanged.
        case asDeclared
        /// `isOpenNow` becomes `is_open_now`. The keys of dictionaries are unchanged.
        case snakeCase
        /// Converted by a closure. The keys of dictionaries are unchanged.
        case custom(@Sendable (String) -> String)
    }

    /// How dates are encoded.
    public enum DateStrategy: Sendable {
        /// As text such as `2026-11-21T18:00:00Z` (RFC 3339). A date outside the years 1 to 9999 is an error.
        case iso8601
        /// As a number of seconds.
        case secondsSince1970
        /// As an integer number of milliseconds.
        case millisecondsSince1970
        /// As `Date` encodes itself.
        case deferred
        /// By a closure.
        case custom(@Sendable (Date) throws -> Parameters)
    }

    /// How `Data` is encoded.
    public enum DataStrategy: Sendable {
        /// As base64 text (RFC 4648, 4).
        case base64
        /// As ``Parameters/bytes(_:)``.
        case bytes
        /// As `Data` encodes itself: an array of numbers.
        case deferred
        /// By a closure.
        case custom(@Sendable (Data) throws -> Parameters)
    }

    /// How booleans are encoded.
    public enum BooleanStrategy: Sendable {
        /// As ``Parameters/boolean(_:)``, which each format writes in its own form.
        case booleans
        /// As the integers 1 and 0.
        case numbers
        /// As the given strings.
        case text(true: String, false: String)
    }

    package var keys: KeyStrategy
    package var dates: DateStrategy
    package var data: DataStrategy
    package var booleans: BooleanStrategy
    /// Whether the result becomes JSON. If true, a number that is not finite is an error with the path of the number,
    /// and a `Set` becomes a sorted array.
    private(set) var isForJSON = false
    /// Whether dates stay ``Parameters/date(_:)`` and declared names are marked, so that a ``JSONCoding`` can still
    /// determine their form.
    private(set) var isDeferring = false

    /// An encoder whose result can still be changed by a ``JSONCoding``.
    static let deferring = {
        var encoder = ParameterEncoder()
        encoder.isDeferring = true
        return encoder
    }()

    /// The same for a value that becomes a JSON body.
    static let json = {
        var encoder = ParameterEncoder.deferring
        encoder.isForJSON = true
        return encoder
    }()

    /// Creates an encoder. Each setting has a default.
    ///
    /// - Parameters:
    ///   - keys: how keys are named.
    ///   - dates: how dates are encoded.
    ///   - data: how `Data` is encoded.
    ///   - booleans: how booleans are encoded.
    public init(
        keys: KeyStrategy = .asDeclared, dates: DateStrategy = .iso8601, data: DataStrategy = .base64,
        booleans: BooleanStrategy = .booleans
    ) {
        self.keys = keys
        self.dates = dates
        self.data = data
        self.booleans = booleans
    }
}

extension Parameters {
    /// Creates parameters from a value.
    ///
    /// - Throws: ``NetError/Code/encoding``, with the path of the part that cannot be encoded.
    public init(encoding value: some Encodable, by encoder: ParameterEncoder = ParameterEncoder()) throws(NetError) {
        let node = ParameterNode()
        do {
            try node.encode(value, at: [], by: encoder)
        } catch {
            throw NetError(encoding: error)
        }
        self = node.parameters
    }
}

extension NetError {
    fileprivate init(encoding error: any Error) {
        if let error = error as? NetError {
            self = error
        } else if case EncodingError.invalidValue(_, let context) = error {
            let path = context.codingPath.isEmpty ? "the value" : "'\(context.codingPath.asName)'"
            self.init(.encoding, "\(path): \(context.debugDescription)", underlying: error)
        } else {
            self.init(.encoding, "the value cannot be encoded: \(error)", underlying: error)
        }
    }
}

extension [any CodingKey] {
    /// The path in the form of a query name, such as "a[b][2]".
    fileprivate var asName: String {
        guard let first else { return "" }
        return dropFirst().reduce(into: first.stringValue) {
            $0 += "[\($1.intValue.map(String.init) ?? $1.stringValue)]"
        }
    }
}

extension ParameterEncoder {
    /// Returns the encoded name of a declared key.
    func name(of key: String) -> String {
        switch keys {
        case .asDeclared: key
        case .snakeCase: key.inSnakeCase
        case .custom(let rename): rename(key)
        }
    }

    func parameters(of value: Bool) -> Parameters {
        switch booleans {
        case .booleans: .boolean(value)
        case .numbers: .integer(value ? 1 : 0)
        case .text(let yes, let no): .string(value ? yes : no)
        }
    }

    /// Returns the representation of a date, or `nil` if the date encodes itself.
    func parameters(of date: Date, at path: [any CodingKey]) throws -> Parameters? {
        if isDeferring {
            return .date(date)
        }
        return switch dates {
        case .iso8601: .string(try date.text(at: path))
        case .secondsSince1970: .double(date.timeIntervalSince1970)
        case .millisecondsSince1970:
            // A date that is out of range becomes infinity, which every format reports as an error.
            Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map(Parameters.integer) ?? .double(.infinity)
        case .deferred: nil
        case .custom(let make): try make(date)
        }
    }

    /// Returns the representation of data, or `nil` if the data encodes itself.
    func parameters(of data: Data) throws -> Parameters? {
        switch self.data {
        case .base64: .string(data.base64EncodedString())
        case .bytes: .bytes(Array(data))
        case .deferred: nil
        case .custom(let make): try make(data)
        }
    }
}

extension Date {
    /// The date as RFC 3339 text without fractional seconds; `nil` outside the years 1 to 9999. The formatter silently
    /// writes a wrong date for one that is NaN or far out of range.
    var internetText: String? {
        let years1To9999 = Date.distantPast..<Date(timeIntervalSince1970: 253_402_300_800)
        return years1To9999.contains(self) ? formatted(.iso8601) : nil
    }

    fileprivate func text(at path: [any CodingKey]) throws -> String {
        guard let text = internetText else {
            // The error contains the number and not the date: a date that has no description would trap when the error
            // is printed.
            throw EncodingError.invalidValue(
                timeIntervalSince1970, .init(codingPath: path, debugDescription: Parameters.dateOutOfRange))
        }
        return text
    }
}

extension Parameters {
    /// The reason why a date has no text.
    static let dateOutOfRange = "a date outside the years 1 to 9999 cannot be encoded"
}

extension String {
    /// The name in snake case. A capital letter begins a word if it follows a small letter or a digit. In a run of
    /// capitals, the last one begins a word if a small letter follows. For example, `userIDText` becomes
    /// `user_id_text`.
    fileprivate var inSnakeCase: String {
        let letters = Array(unicodeScalars)
        var result = ""
        for (index, letter) in letters.enumerated() {
            let isCapital = letter.properties.isUppercase
            let previous = index > 0 ? letters[index - 1] : "_"
            let endsCapitals =
                previous.properties.isUppercase && index + 1 < letters.count
                && letters[index + 1].properties.isLowercase
            if isCapital, previous != "_", !previous.properties.isUppercase || endsCapitals {
                result += "_"
            }
            result += isCapital ? letter.properties.lowercaseMapping : String(letter)
        }
        return result
    }
}
