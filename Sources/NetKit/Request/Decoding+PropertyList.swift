#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Decoding where Value: Decodable {
    /// A property list, in XML or binary, of type application/x-plist.
    ///
    /// An empty body is nil where `Value` is an Optional; otherwise it is ``NetError/Code/undecodable``, as is all that
    /// is no property list, and one that is too much: more than 128 deep, or more than 1,000,000 values, or texts and
    /// data of more than 256 MiB and more than the body, when all that is referred to is counted as often as it is (a
    /// decoder would survive none of these). Old-style ("OpenStep") lists are not read: any text is one.
    public static var propertyList: Decoding { propertyList { PropertyListDecoder() } }

    /// A property list as ``propertyList``, by a decoder that `makeDecoder` sets up anew for each response.
    public static func propertyList(_ makeDecoder: @escaping @Sendable () -> PropertyListDecoder) -> Decoding {
        Decoding(types: MediaTypes.propertyList) { response in
            if let type = Value.self as? any OptionalValue.Type, response.bytes.isEmpty,
                let absent = type.absent as? Value
            {
                return absent
            }
            try PropertyListMeasure.check(response.bytes)
            return try makeDecoder().decode(Value.self, from: response.bytes.borrowedData)
        }
    }
}
