public import NetKit
public import NetKitOffline

extension CacheReason {
    /// The number of the error in YTKNetwork, or `nil` if it has none. ``absent`` and ``invalidMetadata`` have the same
    /// number there.
    public var ytkCode: Int? {
        switch self {
        case .invalidTime: -5
        case .invalidMetadata, .absent: -6
        case .expired: -1
        case .versionMismatch: -2
        case .sensitiveDataMismatch: -3
        case .appVersionMismatch: -4
        case .invalidData: -7
        default: nil
        }
    }
}

extension AuthFailureClassifier {
    /// The rule of CTNetworking's services, which classifies by the member `id` of the JSON body, with any status:
    /// - `expired_access_token` means expired credentials
    /// - `illegal_access_token` and `no_permission_for_this_api` mean refused credentials
    /// - with another body, the status 401 means expired credentials
    public static var identifiers: AuthFailureClassifier {
        .field(
            ["id"], expired: ["expired_access_token"],
            refused: ["illegal_access_token", "no_permission_for_this_api"], else: .status(401))
    }
}

extension MultipartBody {
    /// AFNetworking's suggestion for ``MultipartBody/throttle`` in a 3G network: 16 KiB, then 0.2 s.
    public static let throttleFor3G = (packetBytes: 16384, delay: Duration.milliseconds(200))
}

extension Reachability {
    /// Whether the path is cellular; `reachableViaWWAN` in AFNetworking.
    public var isReachableViaCellular: Bool { state.status == .viaCellular }

    /// Whether the path is not cellular; `reachableViaWiFi` in AFNetworking.
    public var isReachableViaWiFiOrWired: Bool { state.status == .viaWiFiOrWired }
}

extension Pager {
    /// The number of the current page, from 1; 0 if none was loaded. CTNetworking's paging protocol has this property.
    public var currentPageNumber: Int { currentPage?.number ?? 0 }

    /// Whether the current page is the first. CTNetworking's paging protocol has this property.
    public var isFirstPage: Bool { currentPage?.isFirst ?? false }
}
