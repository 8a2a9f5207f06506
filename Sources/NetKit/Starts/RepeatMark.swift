/// What starts have in common that may be repeats of each other.
enum RepeatMark: Sendable, Hashable {
    case key(String)
    case type(ObjectIdentifier)
    case place(Method, String)
}

extension RunControl {
    /// What it has in common with each start that it ``mayRepeat(_:isPerhaps:)``, as far as is known now.
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

    /// Whether this and `other`, which is described, may be repeats of each other, as far as is known before they are
    /// sent.
    ///
    /// - Parameter isPerhaps: what is said of one that may have a key which it has not told yet.
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
        // By bytes: texts that are one to String may be two places.
        return request.method == asked.method && request.beginsWhere(asked)
            && request.url.withoutQuery.utf8.elementsEqual(asked.url.withoutQuery.utf8)
    }
}
