@testable import NetKit
import Testing

struct RetryAfterTests {
    // The date of RFC 9110's examples, in seconds since 1970.
    private static let example = 784_111_777

    @Test(arguments: [
        "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
    ])
    func threeDateFormsAreParsed(text: String) {
        #expect(HTTPDate.epochSeconds(of: text) == 784_111_777)
    }

    @Test(
        arguments: [
            ("Thu, 01 Jan 1970 00:00:00 GMT", 0), ("Wed, 31 Dec 1969 23:59:59 GMT", -1),
            ("Tue, 29 Feb 2000 12:00:00 GMT", 951_825_600), ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199),
            ("Fri, 31 Dec 1999 23:59:60 GMT", 946_684_800), ("Tue, 19 Jan 2038 03:14:08 GMT", 2_147_483_648),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799), ("Monday, 01-Jan-69 00:00:00 GMT", 3_124_224_000),
        ] as [(String, Int64)])
    func datesMatchTheCalendar(text: String, seconds: Int64) {
        #expect(HTTPDate.epochSeconds(of: text) == seconds)
    }

    @Test(arguments: [
        "", "Sun", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 UTC", "Xyz, 06 Nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 32 Nov 1994 08:49:37 GMT", "Sun, 31 Nov 1994 08:49:37 GMT",
        "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Sunday, 06-Nov-1994 08:49:37 GMT", "Sunday, 06-Nov 08:49:37 GMT", "Sun Nov 6 08:49:37 94",
        "Sun, 06 Nov 0000 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT",
    ])
    func malformedDateIsIgnored(text: String) {
        #expect(HTTPDate.epochSeconds(of: text) == nil)
    }

    private static let field = "Sun, 06 Nov 1994 08:49:37 GMT"

    @Test func pastDateIsIgnored() {
        let headers: Headers = ["Retry-After": Self.field]
        #expect(RetryAfter.wait(headers, epochSeconds: Double(Self.example) + 5) == nil)
        #expect(RetryAfter.wait(headers, epochSeconds: Double(Self.example)) == nil)
    }

    @Test func retryWaitsUntilTheDateToTheMillisecond() {
        let wait = RetryAfter.wait(["Retry-After": Self.field], epochSeconds: Double(Self.example) - 1.5)
        #expect(wait == .milliseconds(1500))
    }

    @Test(arguments: [Double.nan, -.infinity, -1e300])
    func clockWithoutWallTimeIgnoresRetryAfterDates(epochSeconds: Double) throws {
        let wait = try #require(RetryAfter.wait(["Retry-After": Self.field], epochSeconds: epochSeconds))
        #expect(wait > .seconds(60))
    }

    @Test(arguments: [-3600.0, -3, 0, 3600, 1e9])
    func retryAfterDateIsRelativeToTheResponseDate(skew: Double) {
        let now = Double(Self.example) + skew
        for (sent, wait) in [
            ("Sun, 06 Nov 1994 08:49:35 GMT", Duration.seconds(2)), ("Sunday, 06-Nov-94 08:48:37 GMT", .seconds(60)),
        ] {
            #expect(RetryAfter.wait(["Date": sent, "Retry-After": Self.field], epochSeconds: now) == wait)
        }
        for sent in [Self.field, "Sun, 06 Nov 1994 08:49:38 GMT", "Mon, 07 Nov 1994 08:49:37 GMT"] {
            #expect(RetryAfter.wait(["Date": sent, "Retry-After": Self.field], epochSeconds: now) == nil)
        }
        #expect(RetryAfter.wait(["Date": Self.field, "Retry-After": "7"], epochSeconds: now) == .seconds(7))
    }

    @Test func unreadableResponseDateFallsBackToTheLocalClock() {
        let headers: Headers = ["Date": "yesterday", "Retry-After": Self.field]
        #expect(RetryAfter.wait(headers, epochSeconds: Double(Self.example) - 4) == .seconds(4))
        #expect(RetryAfter.wait(["Date": Self.field], epochSeconds: 0) == nil)
    }
}
