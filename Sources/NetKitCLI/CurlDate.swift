/// Parses dates like curl's -z (curl_getdate). A date consists of words and numbers in almost any order.
///
/// It must have a day, a month and a year. If it has no time, the time is midnight. If it has no time zone, it is in
/// UTC. Examples: "Sun, 06 Nov 1994 08:49:37 GMT", "dec 12 12:00:00 1999 EST", "Sep 11 2004", "20040911 +0200".
struct CurlDate {
    private var weekday: Int?
    private var month: Int?
    private var day: Int?
    private var year: Int?
    private var time: (hour: Int, minute: Int, second: Int)?
    /// The number of seconds to add to convert to UTC.
    private var offset: Int?
    /// Whether the next number is a year and not a day.
    private var expectsYear = false

    /// The largest number of words and numbers. Further ones are ignored.
    private static let maxParts = 6

    /// Returns the seconds since 1970, or `nil` if the text is not a date.
    static func epochSeconds(of text: String) -> Int64? {
        var date = CurlDate()
        var remaining = Array(text.utf8)[...]
        var separator: UInt8?
        for _ in 0..<maxParts {
            while let byte = remaining.first, !isLetter(byte) && !isDigit(byte) {
                separator = remaining.removeFirst()
            }
            guard let first = remaining.first else { break }
            let isAccepted =
                isLetter(first) ? date.takeWord(&remaining) : date.takeNumber(&remaining, behind: separator)
            if !isAccepted {
                return nil
            }
            separator = nil
        }
        return date.epochSeconds
    }

    // MARK: Parts

    private mutating func takeWord(_ remaining: inout ArraySlice<UInt8>) -> Bool {
        let letters = remaining.prefix(while: Self.isLetter)
        remaining = remaining.dropFirst(letters.count)
        let word = String(decoding: letters, as: UTF8.self).lowercased()
        if weekday == nil, let index = Self.weekdays.firstIndex(where: { $0 == word || $0.prefix(3) == word }) {
            weekday = index
        } else if month == nil, let index = Self.months.firstIndex(of: word) {
            month = index + 1
        } else if offset == nil, let index = Self.minutesBehindUTC(of: word) {
            offset = index * 60
        } else {
            return false
        }
        return true
    }

    private mutating func takeNumber(_ remaining: inout ArraySlice<UInt8>, behind sign: UInt8?) -> Bool {
        if time == nil, let clockTime = Self.clock(&remaining) {
            time = clockTime
            return true
        }
        let digits = remaining.prefix(while: Self.isDigit)
        remaining = remaining.dropFirst(digits.count)
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

    /// Removes and returns a time: "HH:MM" or "HH:MM:SS", with one or two digits for each number.
    private static func clock(_ remaining: inout ArraySlice<UInt8>) -> (hour: Int, minute: Int, second: Int)? {
        var ahead = remaining
        guard let hour = twoDigits(&ahead), ahead.popFirst() == UInt8(ascii: ":"), let minute = twoDigits(&ahead) else {
            return nil
        }
        remaining = ahead
        guard ahead.popFirst() == UInt8(ascii: ":"), let second = twoDigits(&ahead) else { return (hour, minute, 0) }
        remaining = ahead
        return (hour, minute, second)
    }

    private static func twoDigits(_ remaining: inout ArraySlice<UInt8>) -> Int? {
        let digits = remaining.prefix(2).prefix(while: isDigit)
        remaining = remaining.dropFirst(digits.count)
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

    /// Returns the days since 1970. The calculation lets years begin in March, so that a leap day is the last day of a
    /// year.
    private static func days(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let marchYear = month > 2 ? year : year - 1
        let leapDays = marchYear / 4 - marchYear / 100 + marchYear / 400
        let monthDays = (153 * ((month + 9) % 12) + 2) / 5
        return marchYear * 365 + leapDays + monthDays + day - 1 - 719_468
    }

    // MARK: Names

    private static let weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]
    private static let months = [
        "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]

    /// The hours to add to a time in each zone to convert it to UTC. For daylight saving time it is one hour less.
    private static let zones: [String: Int] = [
        "gmt": 0, "ut": 0, "utc": 0, "wet": 0, "bst": -1, "wat": 1, "ast": 4, "adt": 3, "est": 5, "edt": 4, "cst": 6,
        "cdt": 5, "mst": 7, "mdt": 6, "pst": 8, "pdt": 7, "yst": 9, "ydt": 8, "hst": 10, "hdt": 9, "cat": 10,
        "ahst": 10, "nt": 11, "idlw": 12, "cet": -1, "met": -1, "mewt": -1, "mest": -2, "cest": -2, "mesz": -2,
        "fwt": -1, "fst": -2, "eet": -2, "wast": -7, "wadt": -8, "cct": -8, "jst": -9, "east": -10, "eadt": -11,
        "gst": -10, "nzt": -12, "nzst": -12, "nzdt": -13, "idle": -12,
    ]

    /// Returns the minutes to add for the name or the military letter of a zone, or `nil` for another word. The letters
    /// A to M (without J) are ahead of UTC, N to Y are behind it, and Z is UTC.
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
