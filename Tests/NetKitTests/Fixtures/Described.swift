import NetKit
import NetKitCompat

/// A startable value made of a closure.
struct Described: Accompanied, Hooked {
    var tag = 0
    var accessories: [any Accessory] = []
    var hooks = OutcomeHooks<Response<String>>()
    let make: @Sendable () throws(NetError) -> Request<String>

    func request() async throws(NetError) -> Request<String> { try make() }
}

func netError<Value>(of result: Result<Value, NetError>) -> NetError? {
    if case .failure(let error) = result { error } else { nil }
}

func failureCode<Value>(of result: Result<Value, NetError>) -> NetError.Code? {
    netError(of: result)?.code
}
