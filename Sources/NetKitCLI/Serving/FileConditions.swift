import NetKit

/// Evaluates the preconditions and ranges of a request for a file (RFC 9110, 13 and 14). Pure.
struct FileConditions {
    enum Outcome: Equatable {
        case whole
        case part(first: Int, length: Int)
        case notModified
        case preconditionFailed
        case unsatisfiable
    }

    /// The entity tag with its quotes.
    let tag: String
    /// The modification time in whole seconds since 1970.
    let modified: Int64
    let length: Int

    /// Evaluates the conditions of a request, in the order of RFC 9110, 13.2.2.
    ///
    /// - Parameter isGet: whether the method is GET, which is the only method with ranges. Otherwise it is HEAD.
    func outcome(_ headers: Headers, isGet: Bool) -> Outcome {
        if let tags = headers["If-Match"] {
            if !matches(tags, isStrong: true) {
                return .preconditionFailed
            }
        } else if let date = headers["If-Unmodified-Since"].flatMap(HTTPDate.epochSeconds), modified > date {
            return .preconditionFailed
        }
        if let tags = headers["If-None-Match"] {
            if matches(tags, isStrong: false) {
                return .notModified
            }
        } else if let date = headers["If-Modified-Since"].flatMap(HTTPDate.epochSeconds), modified <= date {
            return .notModified
        }
        guard isGet, let range = headers["Range"], isCurrent(headers["If-Range"]) else { return .whole }
        return part(range)
    }

    private func matches(_ list: String, isStrong: Bool) -> Bool {
        if list == "*" {
            return true
        }
        return list.split(separator: ",").contains { item in
            var item = item.drop { $0 == " " || $0 == "\t" }
            while item.last == " " || item.last == "\t" { item.removeLast() }
            // A weak tag never matches in a strong comparison.
            return item == tag || (!isStrong && item == "W/\(tag)")
        }
    }

    private func isCurrent(_ condition: String?) -> Bool {
        guard let condition else { return true }
        return condition == tag || HTTPDate.epochSeconds(of: condition) == modified
    }

    /// Evaluates a Range field. For several ranges, another unit and a malformed range, the whole file is sent, which
    /// RFC 9110, 14.2 allows.
    private func part(_ text: String) -> Outcome {
        guard text.lowercased().hasPrefix("bytes="), !text.contains(",") else { return .whole }
        let bounds = text.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2,
            bounds.allSatisfy({ $0.utf8.count <= 18 && $0.utf8.allSatisfy { (48...57).contains($0) } })
        else { return .whole }
        switch (Int(bounds[0]), Int(bounds[1])) {
        case (nil, nil): return .whole
        case (nil, let count?):
            return count == 0 || length == 0
                ? .unsatisfiable : .part(first: max(0, length - count), length: min(count, length))
        case (let first?, let last):
            if let last, last < first {
                return .whole
            }
            return first >= length
                ? .unsatisfiable : .part(first: first, length: min(last ?? .max, length - 1) - first + 1)
        }
    }
}
