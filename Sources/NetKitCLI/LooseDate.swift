/// Parses dates as curl's -z does (curl_getdate): words and numbers in almost any order.
///
/// A date needs a day, a month and a year. Without a time it is midnight, without a zone UTC. Examples: "Sun, 06 Nov
/// 1994 08:49:37 GMT", "dec 12 12:00:00 1999 EST", "Sep 11 2004", "20040911 +0200".
struct LooseDate {
    private var weekday: Int?
    private var month: Int?
    private var day: Int?
    private var year: Int?
    private var time: (hour: Int, minute: Int, second: Int)?
    /// The number of seconds to add to convert to UTC.
    private var offset: Int?
    /// Whether the next number is a year and not a day.
    private var expectsYear = false

    /// Further words and numbers are ignored.
    private static let maxParts = 6

    /// Returns seconds since 1970, or `nil` if the text is not a date.
    static func epochSeconds(of text: String) -> Int64? {
        var date = LooseDate()
        var rest = Array(text.utf8)[...]
        var before: UInt8?
        for _ in 0..<maxParts {
            while let byte = rest.first, !isLetter(byte) && !isDigit(byte) {
                before = rest.removeFirst()
            }
            guard let first = rest.first else { break }
            let isGood = isLetter(first) ? date.takeWord(&rest) : date.takeNumber(&rest, behind: before)
            if !isGood {
                return nil
            }
            before = nil
        }
        return date.epochSeconds
    }

    // MARK: Parts

    private mutating func takeWord(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let letters = rest.prefix(while: Self.isLetter)
        rest = rest.dropFirst(letters.count)
        let word = String(decoding: letters, as: UTF8.self).lowercased()
        if weekday == nil, let known = Self.weekdays.firstIndex(where: { $0 == word || $0.prefix(3) == word }) {
            weekday = known
        } else if month == nil, let known = Self.months.firstIndex(of: word) {
            month = known + 1
        } else if offset == nil, let known = Self.minutesBehindUTC(of: word) {
            offset = known * 60
        } else {
            return false
        }
        return true
    }

    private mutating func takeNumber(_ rest: inout ArraySlice<UInt8>, behind sign: UInt8?) -> Bool {
        if time == nil, let read = Self.clock(&rest) {
            time = read
            return true
        }
        let digits = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(digits.count)
        guard let value = Int32(String(decoding: digits, as: UTF8.self)).map(Int.init) else { return false }
        if offset == nil, digits.count == 4, value <= 1400, sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-") {
            let seconds = (value / 100 * 60 + value % 100) * 60
            offset = sign == UInt8(ascii: "+") ? -seconds : seconds
            return true
        }
        if digits.count == 8, year == nil, month == nil, day == nil {
            (year, month, day) = (value / 10000, value / 100 % 100, value % 100)
            return true
        }
        return takeDayOrYear(value)
    }

    private mutating func takeDayOrYear(_ value: Int) -> Bool {
        if !expectsYear, day == nil {
            expectsYear = true
            if (1...31).contains(value) {
                day = value
                return true
            }
        }
        guard expectsYear, year == nil else { return false }
        year = value >= 100 ? value : value > 70 ? value + 1900 : value + 2000
        expectsYear = day != nil
        return true
    }

    /// "HH:MM" or "HH:MM:SS", each with one or two digits.
    private static func clock(_ rest: inout ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        var ahead = rest
        guard let hour = twoDigits(&ahead), ahead.popFirst() == UInt8(ascii: ":"), let minute = twoDigits(&ahead) else {
            return nil
        }
        rest = ahead
        guard ahead.popFirst() == UInt8(ascii: ":"), let second = twoDigits(&ahead) else { return (hour, minute, 0) }
        rest = ahead
        return (hour, minute, second)
    }

    private static func twoDigits(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(2).prefix(while: isDigit)
        rest = rest.dropFirst(digits.count)
        return Int(String(decoding: digits, as: UTF8.self))
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
    private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte | 32) }

    // MARK: Conversion

    private var epochSeconds: Int64? {
        let (hour, minute, second) = time ?? (0, 0, 0)
        guard let year, let month, let day, year >= 1583, (1...12).contains(month), day <= 31, hour <= 23,
            minute <= 59, second <= 60
        else { return nil }
        let seconds = ((Self.days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second
        return Int64(seconds + (offset ?? 0))
    }

    /// Returns days since 1970. Years are counted from March, so that a leap day is the last day.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let march = month > 2 ? year : year - 1
        let leapDays = march / 4 - march / 100 + march / 400
        let monthDays = (153 * ((month + 9) % 12) + 2) / 5
        return march * 365 + leapDays + monthDays + day - 1 - 719_468
    }

    // MARK: Names

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// Hours to add to convert to UTC. Daylight saving time is one hour less.
    private static let zones: [String: Int] = [
        "gmt": 0, "ut": 0, "utc": 0, "wet": 0, "bst": -1, "wat": 1, "ast": 4, "adt": 3, "est": 5, "edt": 4, "cst": 6,
        "cdt": 5, "mst": 7, "mdt": 6, "pst": 8, "pdt": 7, "yst": 9, "ydt": 8, "hst": 10, "hdt": 9, "cat": 10,
        "ahst": 10, "nt": 11, "idlw": 12, "cet": -1, "met": -1, "mewt": -1, "mest": -2, "cest": -2, "mesz": -2,
        "fwt": -1, "fst": -2, "eet": -2, "wast": -7, "wadt": -8, "cct": -8, "jst": -9, "east": -10, "eadt": -11,
        "gst": -10, "nzt": -12, "nzst": -12, "nzdt": -13, "idle": -12,
    ]

    /// Parses a zone's name or a military letter: A to M without J are ahead of UTC, N to Y behind, Z is UTC.
    private static func minutesBehindUTC(of word: String) -> Int? {
        if let hours = zones[word] {
            return hours * 60
        }
        guard let letter = word.utf8.first, word.utf8.count == 1, letter != UInt8(ascii: "j") else { return nil }
        switch letter {
        case UInt8(ascii: "a")...UInt8(ascii: "i"): return -60 * (Int(letter - UInt8(ascii: "a")) + 1)
        case UInt8(ascii: "k")...UInt8(ascii: "m"): return -60 * (Int(letter - UInt8(ascii: "k")) + 10)
        case UInt8(ascii: "n")...UInt8(ascii: "y"): return 60 * (Int(letter - UInt8(ascii: "n")) + 1)
        default: return 0
        }
    }
}
