#if HTTPTypes
internal import HTTPTypes
internal import NetKit

extension Headers.Field {
    /// Creates a field with the same bytes. ``HTTPTypes/HTTPField/value`` is not used, because it replaces bytes that
    /// are not UTF-8.
    init(_ field: HTTPField) {
        // SAFETY: the buffer is copied before the closure returns.
        let bytes = unsafe field.withUnsafeBytesOfValue { unsafe Array($0) }
        self.init(name: field.name.rawName, bytes: Bytes(bytes))
    }
}
#endif
