/// Reads and writes dates in the formats of HTTP (RFC 9110, 5.6.7).
package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    private static let longDays = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"]

    /// Returns the seconds since 1970 of `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov
    /// 6 08:49:37 1994`, or `nil` for other text.
    package static func epochSeconds(of text: String) -> Int64? {
        var words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        // Only the form "Sun Nov  6 08:49:37 1994" pads a one-digit day with a space.
        if words.count == 6, words[2].isEmpty, words[3].count == 1 {
            words.remove(at: 2)
        }
        if words.count == 6, words[5] == "GMT", words[0].hasSuffix(","), days.contains(String(words[0].dropLast())) {
            return seconds(day: words[1], month: words[2], year: words[3], time: words[4])
        }
        if words.count == 4, words[3] == "GMT", words[0].hasSuffix(","),
            longDays.contains(String(words[0].dropLast()))
        {
            let date = words[1].split(separator: "-", omittingEmptySubsequences: false).map(String.init)
            guard date.count == 3, date[2].count == 2, let short = number(date[2], digits: 2) else { return nil }
            // Two-digit years from 70 are in the 20th century, the others in the 21st.
            let year = short < 70 ? 2000 + short : 1900 + short
            return seconds(day: date[0], month: date[1], year: String(year), time: words[2])
        }
        if words.count == 5, days.contains(words[0]) {
            let day = words[2].count == 1 ? "0" + words[2] : words[2]
            return seconds(day: day, month: words[1], year: words[4], time: words[3])
        }
        return nil
    }

    /// The seconds since 1970 that can be written as a date. The year of a date has four digits, so it is from 1 to
    /// 9999.
    package static let writableSeconds: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

    /// Returns `Sun, 06 Nov 1994 08:49:37 GMT` for seconds in ``writableSeconds``.
    package static func text(ofEpochSeconds seconds: Int64) -> String {
        let day = (seconds - (seconds % 86400 + 86400) % 86400) / 86400
        // This is the inverse of `epochDay(year:month:day:)`.
        let shifted = day + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let fromMarch = (5 * dayOfYear + 2) / 153
        let month = Int(fromMarch < 10 ? fromMarch + 2 : fromMarch - 10)
        let year = yearOfEra + era * 400 + (month < 2 ? 1 : 0)
        let time = seconds - day * 86400
        func two(_ number: Int64) -> String { (number < 10 ? "0" : "") + String(number) }
        let years = String(repeating: "0", count: max(0, 4 - String(year).count)) + String(year)
        let date = "\(two(dayOfYear - (153 * fromMarch + 2) / 5 + 1)) \(months[month]) \(years)"
        return "\(days[Int((day % 7 + 10) % 7)]), \(date) "
            + "\(two(time / 3600)):\(two(time / 60 % 60)):\(two(time % 60)) GMT"
    }

    private static func seconds(day: String, month: String, year: String, time: String) -> Int64? {
        let clock = time.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard clock.count == 3, let hour = number(clock[0], digits: 2), let minute = number(clock[1], digits: 2),
            let second = number(clock[2], digits: 2), hour < 24, minute < 60, second <= 60,
            let day = number(day, digits: 2), let month = months.firstIndex(of: month),
            let year = number(year, digits: 4),
            let epochDay = epochDay(year: year, month: month + 1, checkedDay: day)
        else { return nil }
        return (epochDay * 24 + hour) * 3600 + minute * 60 + second
    }

    /// Returns the days since 1970 of a date, or `nil` if the calendar has no such date.
    static func epochDay(year: Int64, month: Int, checkedDay day: Int64) -> Int64? {
        guard year >= 1, (1...12).contains(month), (1...length(of: month - 1, in: year)).contains(day) else {
            return nil
        }
        return epochDay(year: year, month: month, day: day)
    }

    private static func number(_ text: String, digits: Int) -> Int64? {
        text.utf8.count == digits && text.utf8.allSatisfy { (48...57).contains($0) } ? Int64(text) : nil
    }

    private static func length(of month: Int, in year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return month == 1 ? (isLeap ? 29 : 28) : [3, 5, 8, 10].contains(month) ? 30 : 31
    }

    /// Returns the days since 1970 of a date in the Gregorian calendar. The calculation lets years begin in March, so
    /// that a leap day is the last day of a year.
    private static func epochDay(year: Int64, month: Int, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = year / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * Int64(month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }
}
