/// The content of a request except its header fields and its decoding.
/// The content is copied several times on the way to the engine, and each copy increments the count of every reference
/// in it. Therefore all options that few requests set are stored behind one reference.
struct RequestContent: Sendable {
    var method: Method
    var url: String
    var body: Body?
    var limitsStorage: LimitsStorage?
    var redirects: RedirectPolicy?
    var httpVersionPolicy = HTTPVersionPolicy.automatic
    var priority = Priority.normal
    var acceptedStatuses: StatusSet
    var streamBufferBytes = 1 << 20
    var isReadImmediately = false
    var acceptsCodings = true
    var acceptsTransferCodings = false
    var cookiePolicy = CookiePolicy.sendAndStore
    var keepsDotSegments = false
    var refusesMalformedFields = false
    var omitsZeroLength = false
    var expectsContinue = false
    /// Whether the caller decodes the response as JSON.
    var wantsJSON = false
    var progress: (@Sendable (TransferProgress) -> Void)?
    /// The rarely used options; `nil` if none is set.
    private(set) var optionalStorage: OptionalSettingsStorage?

    init(
        method: Method, url: String, body: Body?, parameters: Parameters?, query: Parameters?,
        acceptedStatuses: StatusSet
    ) {
        self.method = method
        self.url = url
        self.body = body
        self.acceptedStatuses = acceptedStatuses
        if let parameters {
            optionalSettings.parameters = parameters
        }
        if let query, !query.isEmpty {
            optionalSettings.query = query
        }
    }

    /// The request's own limits. Those that are not set are inherited.
    var limits: Limits {
        get { limitsStorage?.value ?? Limits() }
        set { limitsStorage = newValue.isEmpty ? nil : LimitsStorage(newValue) }
    }

    /// The rarely used options, for writing; ``optionalStorage`` reads them without a copy.
    var optionalSettings: OptionalSettings {
        get { optionalStorage?.value ?? OptionalSettings() }
        set { optionalStorage = OptionalSettingsStorage(newValue) }
    }
}

/// Options that few requests set.
struct OptionalSettings: Sendable {
    var parameters: Parameters?
    /// The parameters that go into the URL.
    var query: Parameters?
    var queryEncoding = QueryEncoding()
    var queryMethods = Method.withQueryByDefault
    var placement = ParameterPlacement.byMethod
    var serializer: (any RequestSerializer)?
    /// The settings with which a JSON body is written; `nil` for the defaults.
    var json: JSONCodingStorage?
    var trust: TrustPolicy?
    var addressOverrides: [AddressOverride] = []
    var credentials: Credentials?
    var proxy: Proxy?
    var unixSocket: String?
    /// Whether a followed redirect led to an origin other than the call's. If so, no client certificate and no netrc
    /// entry is used.
    var isCrossOrigin = false
    var savePath: String?
    var acceptedTypes: [String]?
    var expectation: JSONExpectation?
    var serviceClass: ServiceClass?
    var trailers: Trailers?
    /// The settings of the call; `nil` if none was set.
    var callSettings: (any RequestSettings)?
    var options = OptionValues()
}

/// Settings of a call behind one reference. The folders above declare them.
protocol RequestSettings: AnyObject, Sendable {}

/// Rarely used options behind one reference.
final class OptionalSettingsStorage: Sendable {
    let value: OptionalSettings

    init(_ value: OptionalSettings) {
        self.value = value
    }
}

/// The content of a request behind one reference. A request is passed on about a dozen times on its way to the engine,
/// and copying the whole content each time would dominate the cost.
final class RequestStorage: Sendable {
    let value: RequestContent

    init(_ value: RequestContent) {
        self.value = value
    }
}

/// The URL of a request without query and fragment, both as the caller wrote it and as an absolute URL, for comparison
/// with other requests.
struct RequestTarget: Sendable {
    private let written: Substring
    private let origin: String?
    private let path: String

    /// - Parameters:
    ///   - written: the URL as the caller wrote it, possibly relative.
    ///   - completed: the absolute URL.
    init(_ written: String, completed: String) {
        self.written = written.withoutQuery
        let path = URLParts(completed).path
        origin = completed.origin
        self.path = path.isEmpty ? "/" : path
    }

    /// Returns true if `other` has this target. If this target was written as a full URL, the origins must be equal
    /// too; otherwise only the paths are compared.
    func matches(_ other: RequestTarget) -> Bool {
        if written == other.written {
            return true
        }
        return path == other.path && (!written.contains("://") || origin == other.origin)
    }
}

/// A typed value that can be attached to a request, for an interceptor, an observer or the application.
///
///     enum Tag: RequestOption { static let defaultValue: Int? = nil }
///     request[Tag.self] = 7
///
/// Transports ignore options, and options are never sent.
public protocol RequestOption: SendableMetatype {
    /// The type of the value.
    associatedtype Value: Sendable
    /// The value for requests that do not set the option.
    static var defaultValue: Value { get }
}

/// An option that can change the outcome of a call. Requests with different values of it are not duplicates of each
/// other (``RequestDeduplication``). Other options are not compared.
public protocol ComparedRequestOption: RequestOption where Value: Hashable {}

/// The values of the options that a request or a service sets.
struct OptionValues: Sendable {
    /// The value of a ``ComparedRequestOption``.
    struct ComparedValue: Hashable, Sendable {
        private let value: any Hashable & Sendable

        /// Returns `nil` for the default, because a request that does not set the option has the same value.
        fileprivate init?<Option: ComparedRequestOption>(_ value: any Sendable, of option: Option.Type) {
            guard let value = value as? Option.Value, value != Option.defaultValue else { return nil }
            self.value = value
        }

        static func == (left: Self, right: Self) -> Bool { AnyHashable(left.value) == AnyHashable(right.value) }

        func hash(into hasher: inout Hasher) {
            value.hash(into: &hasher)
        }
    }

    private struct Entry: Sendable {
        let value: any Sendable
        let comparedValue: ComparedValue?
    }

    private var entries: [ObjectIdentifier: Entry] = [:]

    var isEmpty: Bool { entries.isEmpty }

    /// The value of an option, or `nil` if it is not set.
    subscript<Option: RequestOption>(option: Option.Type) -> Option.Value? {
        get { entries[ObjectIdentifier(option)]?.value as? Option.Value }
        set {
            entries[ObjectIdentifier(option)] = newValue.map { value in
                let compared = option as? any ComparedRequestOption.Type
                return Entry(value: value, comparedValue: compared.flatMap { ComparedValue(value, of: $0) })
            }
        }
    }

    /// Adds the options that are not set.
    mutating func fill(from others: OptionValues) {
        entries.merge(others.entries) { own, _ in own }
    }

    /// The values that distinguish the request from its duplicates.
    var comparedValues: [ObjectIdentifier: ComparedValue] { entries.compactMapValues(\.comparedValue) }
}

extension Request {
    /// The value of an option.
    public subscript<Option: RequestOption>(option: Option.Type) -> Option.Value {
        get { storage.value.optionalStorage?.value.options[option] ?? Option.defaultValue }
        set { content.optionalSettings.options[option] = newValue }
    }

    /// Whether a setting of the call or an option is set.
    var hasOptions: Bool {
        storage.value.optionalStorage.map { $0.value.callSettings != nil || !$0.value.options.isEmpty } ?? false
    }
}
