#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// How any `Encodable` value becomes ``Parameters``.
///
///     struct Search: Encodable { var text: String, since: Date, isOpen: Bool }
///     let parameters = try Parameters(encoding: search, by: ParameterEncoder(keys: .snakeCase, dates: .secondsSince1970))
///
/// Fields keep the order in which the value encodes them; those of dictionaries are sorted, as dictionaries have none. A
/// `Set` becomes ``Parameters/set(_:)``, a `URL` its text, a `Decimal` its digits. Thread-safe.
public struct ParameterEncoder: Sendable {
    /// What keys are called.
    public enum KeyStrategy: Sendable {
        /// As they are declared.
        case asDeclared
        /// `isOpenNow` as `is_open_now`; the keys of dictionaries stay.
        case snakeCase
        /// By a function of one's own; the keys of dictionaries stay.
        case custom(@Sendable (String) -> String)
    }

    /// What dates become.
    public enum DateStrategy: Sendable {
        /// Text such as `2026-11-21T18:00:00Z` (RFC 3339); a date outside the years 1 to 9999 is refused.
        case iso8601
        /// A number of seconds.
        case secondsSince1970
        /// A whole number of milliseconds.
        case millisecondsSince1970
        /// What `Date` itself encodes.
        case deferred
        /// By a function of one's own.
        case custom(@Sendable (Date) throws -> Parameters)
    }

    /// What `Data` becomes.
    public enum DataStrategy: Sendable {
        /// Text in base64 (RFC 4648, 4).
        case base64
        /// ``Parameters/bytes(_:)``.
        case bytes
        /// What `Data` itself encodes: an array of numbers.
        case deferred
        /// By a function of one's own.
        case custom(@Sendable (Data) throws -> Parameters)
    }

    /// What booleans become.
    public enum BooleanStrategy: Sendable {
        /// ``Parameters/boolean(_:)``, which each writer spells in its way.
        case booleans
        /// The integers 1 and 0.
        case numbers
        /// Text of one's own.
        case text(true: String, false: String)
    }

    /// Keys.
    public var keys: KeyStrategy
    /// Dates.
    public var dates: DateStrategy
    /// `Data`.
    public var data: DataStrategy
    /// Booleans.
    public var booleans: BooleanStrategy
    /// Whether it becomes JSON: a number that is not finite is refused where it stands, and a `Set` is a sorted array.
    private(set) var isForJSON = false

    /// What a `JSONEncoder` without settings writes.
    static let json = {
        var encoder = ParameterEncoder(dates: .deferred)
        encoder.isForJSON = true
        return encoder
    }()

    /// The default, but for what is named.
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
    /// What the value encodes.
    ///
    /// Throws ``NetError/Code/unencodable``, with the path, when the value refuses to be encoded.
    public init(encoding value: some Encodable, by encoder: ParameterEncoder = ParameterEncoder()) throws(NetError) {
        let node = ParameterNode()
        do {
            try node.take(value, at: [], by: encoder)
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
            self.init(.unencodable, "\(path): \(context.debugDescription)", underlying: error)
        } else {
            self.init(.unencodable, "the value cannot be encoded: \(error)", underlying: error)
        }
    }
}

extension [any CodingKey] {
    /// The path as a query names it.
    fileprivate var asName: String {
        guard let first else { return "" }
        return dropFirst().reduce(into: first.stringValue) {
            $0 += "[\($1.intValue.map(String.init) ?? $1.stringValue)]"
        }
    }
}

extension ParameterEncoder {
    /// A declared key, as it is called.
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

    /// Nil where the date encodes itself.
    func parameters(of date: Date, at path: [any CodingKey]) throws -> Parameters? {
        switch dates {
        case .iso8601: .string(try date.text(at: path))
        case .secondsSince1970: .double(date.timeIntervalSince1970)
        case .millisecondsSince1970:
            // One that lies too far away is refused by who writes it, as infinity is.
            Int64(exactly: (date.timeIntervalSince1970 * 1000).rounded()).map(Parameters.integer) ?? .double(.infinity)
        case .deferred: nil
        case .custom(let make): try make(date)
        }
    }

    /// Nil where the data encodes itself.
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
    /// As RFC 3339 has it. The formatter takes a date that is none, or lies beyond all calendars, for some other one.
    fileprivate func text(at path: [any CodingKey]) throws -> String {
        let years1To9999 = Date.distantPast..<Date(timeIntervalSince1970: 253_402_300_800)
        guard years1To9999.contains(self) else {
            // Not the date itself: whoever prints the error would trap, as some have no description.
            throw EncodingError.invalidValue(
                timeIntervalSince1970,
                .init(codingPath: path, debugDescription: "a date outside the years 1 to 9999 has no text"))
        }
        return formatted(.iso8601)
    }
}

extension String {
    /// A word begins with a capital letter behind a small letter or a digit, and with the last of several capital letters
    /// when a small one follows: `userIDText` is `user_id_text`.
    fileprivate var inSnakeCase: String {
        let letters = Array(unicodeScalars)
        var result = ""
        for (index, letter) in letters.enumerated() {
            let isCapital = letter.properties.isUppercase
            let before = index > 0 ? letters[index - 1] : "_"
            let endsCapitals =
                before.properties.isUppercase && index + 1 < letters.count && letters[index + 1].properties.isLowercase
            if isCapital, before != "_", !before.properties.isUppercase || endsCapitals {
                result += "_"
            }
            result += isCapital ? letter.properties.lowercaseMapping : String(letter)
        }
        return result
    }
}
