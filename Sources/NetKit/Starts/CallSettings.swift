/// The settings of a call that only the agent uses, such as its listeners, its interceptors and its cache rules. A
/// transport ignores them. The properties of ``Request`` with the same names describe them.
struct CallSettings: Sendable {
    var tag: Int = 0
    var userInfo: [String: any Sendable] = [:]
    var group: ObjectIdentifier?
    var service: (any AnyObject & Sendable)?
    var baseURL: String?
    var isComplete: Bool = false
    var parameterSource: ParameterSource?
    var cacheKeyParameters: (@Sendable (Parameters) -> Parameters)?
    var appliedParametersURL: String?
    var isServerControlledURL: Bool = false
    var withheldAdditions: WithheldAdditions = []
    var interceptors: [any Interceptor] = []
    var observers: [any Observer] = []
    var listeners: [any TaskListener] = []
    var transferObserver: TransferObserver?
    var transferHandle: TransferHandle?
    var budget: TimeBudget?
    var caching: CacheRules?
    var identityFields: [String] = []
    var duplicates: DuplicatePolicy?
    var duplicateKey: String?
    var bypassesRefresh: Bool = false
    var output: (any BodyOutput)?
    var downloadTarget: DownloadTarget?
    var downloadPlan: DownloadPlan?
    var webSocketPlan: WebSocketPlan?
}

/// The settings of a call behind one reference, so that few requests pay for them.
final class CallSettingsStorage: RequestSettings {
    let value: CallSettings

    init(_ value: CallSettings) {
        self.value = value
    }
}

extension RequestContent {
    /// The settings of the call, for reading; `nil` if none was set. The compiler reads one property of a class in
    /// place, but copies a structure of this size as a whole.
    var callSettings: CallSettingsStorage? {
        @inline(__always) get { optionalStorage?.value.callSettings as? CallSettingsStorage }
    }

    /// The settings of the call, for writing. Setting one replaces the storage, so that copies of the request do not
    /// change.
    var settings: CallSettings {
        get { callSettings?.value ?? CallSettings() }
        set { optionalSettings.callSettings = CallSettingsStorage(newValue) }
    }
}

extension Request {
    /// The settings of the call, for reading.
    var callSettings: CallSettingsStorage? {
        @inline(__always) get { storage.value.callSettings }
    }

    /// The settings of the call, for writing.
    var settings: CallSettings {
        get { storage.value.settings }
        set { content.settings = newValue }
    }
}
