/// A property that possible duplicates share.
enum RepeatMark: Sendable, Hashable {
    case key(String)
    case type(ObjectIdentifier)
    case place(Method, String)
}

extension RunControl {
    /// The properties that it shares with each task that it ``mayRepeat(_:isPerhaps:)``, known so far.
    var repeatMarks: [RepeatMark] {
        var marks = group.map { [RepeatMark.type($0)] } ?? []
        guard let request else { return marks }
        if let key = request.repeatKey {
            marks.append(.key(key))
        } else if let type = request.group {
            marks.append(.type(type))
        } else if group == nil {
            marks.append(.place(request.method, String(request.url.withoutQuery)))
        }
        return marks
    }

    /// Returns whether this and `other` may be duplicates, from what is known before they are sent. `other`'s request
    /// must be known.
    ///
    /// - Parameter isPerhaps: the result for a task whose key is not known yet.
    func mayRepeat(_ other: RunControl, isPerhaps: Bool) -> Bool {
        guard let asked = other.request else { return false }
        guard let request else {
            return group != nil && group == other.group && (asked.repeatKey == nil || isPerhaps)
        }
        if request.repeatKey != nil || asked.repeatKey != nil {
            return request.repeatKey == asked.repeatKey
        }
        let (type, otherType) = (group ?? request.group, other.group ?? asked.group)
        if type != nil || otherType != nil {
            return type == otherType
        }
        // Compares bytes: strings that String treats as equal may be different URLs.
        return request.method == asked.method && request.beginsWhere(asked)
            && request.url.withoutQuery.utf8.elementsEqual(asked.url.withoutQuery.utf8)
    }
}
