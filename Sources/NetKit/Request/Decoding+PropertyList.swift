#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Decoding where Value: Decodable {
    /// Decodes a property list, in XML or binary, of type application/x-plist.
    ///
    /// An empty body is `nil` if `Value` is an Optional. Otherwise these throw ``NetError/Code/undecodable``:
    /// - an empty body, and a body that is no property list
    /// - a list that is nested deeper than 128, or has more than 1,000,000 values
    /// - a list whose texts and data exceed both 256 MiB and the size of the body, with each reference counted every
    ///   time
    ///
    /// The limits protect the decoder, which would crash or exhaust memory. Old-style ("OpenStep") lists are not read,
    /// because any text is one.
    public static var propertyList: Decoding { propertyList { PropertyListDecoder() } }

    /// Decodes a property list as ``propertyList``, with a decoder that `makeDecoder` creates for each response.
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
