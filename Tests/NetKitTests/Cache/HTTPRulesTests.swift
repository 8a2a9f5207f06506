import Testing

@testable import NetKit

/// The rules of RFC 9111, without a network.
struct HTTPRulesTests {
    private static let now: Int64 = 784_111_777_000

    private func freshness(_ headers: Headers, status: Int = 200, took: Int64 = 0) -> HTTPFreshness {
        HTTPFreshness(status, headers, asked: Self.now - took, received: Self.now, policy: HTTPCachePolicy())
    }

    @Test(
        arguments: [
            ("max-age=60", 60), ("MAX-AGE=60", 60), ("x, max-age=60", 60), ("max-age=\"60\"", 60), ("max-age=007", 7),
            ("max-age=60, max-age=1", 60), ("ext=\"max-age=1\", max-age=60", 60), (", ,max-age=60,", 60),
            ("max-age=99999999999999999999999", CacheControl.longest), ("max-age=-1", 0), ("max-age='60'", 0),
            ("max-age=60.0", 0), ("max-age=6a", 0), ("max-age= 60", 0), ("max-age=", 0), ("max-age", 0),
            ("max-age=+6", 0),
        ] as [(String, Int64)])
    func aMaximumAgeIsReadOrIsNothing(value: String, seconds: Int64) {
        #expect(CacheControl(["Cache-Control": value]).maxAge == seconds)
    }

    @Test(arguments: ["", "maxage=60", "max-age =60", "\"max-age=60\"", "x=\"a, max-age=60\"", "s-maxage=60"])
    func whatIsNoMaximumAgeIsNone(value: String) {
        #expect(CacheControl(["Cache-Control": value]).maxAge == nil)
    }

    @Test func directivesStandInAnyNumberOfFieldsAndInQuotes() {
        let control = CacheControl([
            "cache-control": "No-Store, no-cache=\"Set-Cookie, b\\\"c\"", "Cache-Control": "max-stale, immutable",
        ])
        #expect(control.hasNoStore && !control.hasNoCache && control.isImmutable && control.maxStale == .max)
        #expect(control.noCacheFields == ["Set-Cookie", "b\"c"])
        #expect(CacheControl(["Cache-Control": "no-cache=\"\", max-stale=5"]).hasNoCache)
        #expect(CacheControl(["Cache-Control": "max-stale=5"]).maxStale == 5)
    }

    @Test(
        arguments: [
            ("abc", 0), ("-7200", 0), ("7200.0", 0), ("7200", 7200), ("2147483649", 2_147_483_649), ("7200, 0", 7200),
            ("0, 7200", 0), (" 12 ", 12), ("7200;a=b", 0), ("", 0),
        ] as [(String, Int64)])
    func theFirstAgeCountsIfItIsOne(value: String, seconds: Int64) {
        #expect(freshness(["Age": value]).initialAge == seconds * 1000)
    }

    @Test func theAgeIsTheLargerOfWhatDateTellsAndOfWhatAgeTells() {
        #expect(freshness(["Date": "Sun, 06 Nov 1994 08:49:27 GMT"]).initialAge == 10_000)
        #expect(freshness(["Date": "Sun, 06 Nov 1994 08:49:27 GMT", "Age": "30"], took: 500).initialAge == 30_500)
        #expect(freshness(["Date": "Sun, 06 Nov 1994 08:59:27 GMT"]).initialAge == 0)
        #expect(freshness(["Date": "yesterday"], took: 500).initialAge == 500)
    }

    @Test(
        arguments: [
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("SUN, 06 NOV 1994 08:50:37 gmt", 60), ("0", 0), ("-1", 0),
            ("Sunday, 06-Nov-94 08:50:37 GMT", 60), ("Sun Nov  6 08:50:37 1994", 60),
            ("sunday, 06-NOV-94 08:50:37 GMT", 60),
            ("Sun, 06 Nov 1994 08:49:37 GMT", 0), ("Sun, 06 Nov 1993 08:49:37 GMT", 0),
            ("Sun, 06 Nov 1995 08:49:37 UTC", 0), ("Sun 06 Nov 1995 08:49:37 GMT", 0),
            ("Sun, 06  Nov 1995 08:49:37 GMT", 0), ("Sun, 06-Nov-1995 08:49:37 GMT", 0),
            ("Sun, 06 Nov 95 08:49:37 GMT", 0), ("Sun, 06 Nov 1995 8:49:37 GMT", 0),
            ("Sun, 06 Nov 1995 08.49.37 GMT", 0),
        ] as [(String, Int64)])
    func expiresIsADateInOneOfThreeFormsOrIsOver(value: String, seconds: Int64) {
        #expect(freshness(["Expires": value, "Date": "Sun, 06 Nov 1994 08:49:37 GMT"]).lifetime == seconds * 1000)
        #expect(freshness(["Expires": value]).lifetime == seconds * 1000)
    }

    @Test func maximumAgeCountsMoreThanExpiresAndBothMoreThanAGuess() {
        let dates: Headers = [
            "Expires": "Sun, 06 Nov 1994 08:50:37 GMT", "Last-Modified": "Sun, 06 Nov 1994 08:33:00 GMT",
            "Date": "Sun, 06 Nov 1994 08:49:40 GMT",
        ]
        var headers = dates
        #expect(freshness(headers).lifetime == 57_000)
        headers["Cache-Control"] = "max-age=5, s-maxage=100"
        #expect(freshness(headers).lifetime == 5000)
        headers = dates
        headers["Expires"] = nil
        #expect(freshness(headers).lifetime == 100_000)
        #expect(freshness(headers).flags == .heuristic)
        #expect(freshness(headers, status: 201).lifetime == nil)
        headers["Cache-Control"] = "public"
        #expect(freshness(headers, status: 599).lifetime == 100_000)
        headers["Last-Modified"] = "Sun, 06 Nov 1904 08:33:00 GMT"
        #expect(freshness(headers).lifetime == 86_400_000)
    }

    @Test(arguments: [
        (200, "max-age=1", true), (599, "max-age=1", true), (503, "max-age=0", true),
        (200, "no-store, max-age=9", false),
        (206, "max-age=1", false), (304, "max-age=1", false), (200, "", false),
        (200, "no-store, must-understand, max-age=1", true),
        (599, "must-understand, max-age=1", false), (200, "private, max-age=1", true),
    ])
    func aResponseIsStoredByItsStatusAndItsDirectives(status: Int, control: String, isStored: Bool) {
        let headers: Headers = ["Cache-Control": control]
        #expect(isStorable(status, headers) == isStored)
        #expect(!isStorable(status, headers, request: ["Cache-Control": "no-store"]))
        #expect(!isStorable(status, headers, method: .put))
    }

    @Test(arguments: [
        ("bytes 0-3/9", false), ("bytes 0-8/9", true), ("bytes 4-8/9", false), ("bytes 0-8/*", false),
        ("bytes */9", false), ("Bytes nonsense", false), ("items 0-3/9", true),
    ])
    func aPartIsNotStoredAsTheWhole(range: String, isStored: Bool) {
        #expect(isStorable(200, ["Cache-Control": "max-age=1", "Content-Range": range]) == isStored)
    }

    private func isStorable(
        _ status: Int, _ headers: Headers, method: Method = .get, request: Headers = [:]
    ) -> Bool {
        HTTPStorage.isStorable(
            status, headers, of: method, url: "http://h/a", request: CacheControl(request),
            freshness: freshness(headers, status: status))
    }

    @Test func aPOSTIsStoredWhereItSaysThatItIsTheResource() {
        for (location, isStored) in [
            ("http://h/a", true), ("/a", true), ("/b", false), ("http://g/a", false), ("a", false),
        ] {
            let headers: Headers = ["Cache-Control": "max-age=9", "Content-Location": location]
            #expect(isStorable(200, headers, method: .post) == isStored, "\(location)")
        }
        #expect(!isStorable(200, ["Content-Location": "/a", "ETag": "\"x\""], method: .post))
    }

    @Test func aVaryOfAnyStarIsNeverStored() {
        for vary in ["*", "*, *", ", *", "Foo, *", "*, Foo"] {
            #expect(!isStorable(200, ["Cache-Control": "max-age=9", "Vary": vary]), "\(vary)")
        }
        #expect(isStorable(200, ["Cache-Control": "max-age=9", "Vary": "Foo"]))
    }

    @Test func fieldsOfTheConnectionAreNotStored() {
        let stored = HTTPStorage.storedFields([
            "A": "1", "Connection": "b, C", "b": "2", "c": "3", "Keep-Alive": "x", "TE": "x", "Upgrade": "x",
            "Proxy-Authenticate": "x", "Transfer-Encoding": "x", "Age": "9", "d": "4",
            "Cache-Control": "no-cache=\"d\"",
        ])
        #expect(stored.map(\.name) == ["A", "Cache-Control"])
    }

    @Test func aNewHeadTakesThePlaceOfTheOldButForWhatBelongsToTheBody() {
        let stored: Headers = ["A": "1", "Content-Length": "5", "B": "2", "Content-Encoding": "gzip", "B": "3"]
        let news: Headers = ["b": "4", "Content-Length": "0", "content-encoding": "br", "N": "new", "Connection": "x"]
        let fresh = HTTPStorage.freshened(stored, by: news)
        #expect(
            fresh.map { "\($0.name): \($0.value)" } == [
                "A: 1", "Content-Length: 5", "b: 4", "Content-Encoding: gzip", "N: new",
            ])
    }

    @Test func aTagOfAnotherVersionIsNotAboutWhatIsStored() {
        #expect(HTTPStorage.isAbout(["ETag": "\"a\""], ["ETag": "\"a\""]))
        #expect(HTTPStorage.isAbout(["ETag": "W/\"a\""], ["ETag": "\"a\""]))
        #expect(HTTPStorage.isAbout(["ETag": "\"a\""], [:]))
        for tag in ["\"b\"", "W/\"b\""] {
            #expect(!HTTPStorage.isAbout(["ETag": "\"a\""], ["ETag": "\(tag)"]))
            #expect(
                !HTTPStorage.isAbout(
                    ["ETag": "W/\"a\"", "Last-Modified": "x"], ["ETag": "\(tag)", "Last-Modified": "x"]))
            #expect(HTTPStorage.isAbout(["Last-Modified": "x"], ["ETag": "\(tag)"]))
        }
    }

    @Test func aDateOfAnotherVersionCountsWhereNoTagIsTold() {
        let (date, same, other) = (
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:36 GMT"
        )
        let stored: Headers = ["ETag": "\"a\"", "Last-Modified": "\(date)"]
        #expect(HTTPStorage.isAbout(stored, ["Last-Modified": "\(date)"]))
        #expect(HTTPStorage.isAbout(stored, ["Last-Modified": "\(same)"]))
        #expect(!HTTPStorage.isAbout(stored, ["Last-Modified": "\(other)"]))
        #expect(!HTTPStorage.isAbout(["Last-Modified": "x"], ["Last-Modified": "y"]))
        #expect(HTTPStorage.isAbout(stored, ["ETag": "\"a\"", "Last-Modified": "\(other)"]))
        #expect(HTTPStorage.isAbout(["ETag": "\"a\""], ["Last-Modified": "\(other)"]))
    }

    @Test func chosenFieldsAreTheSameWhereTheyMeanTheSame() {
        let vary = Vary(["Vary": "Foo, Accept-Language", "vary": "foo"])
        #expect(vary.names == ["accept-language", "foo"])
        let one = vary.fields(of: ["foo": "1, 2", "Accept-Language": "en, DE;q=0.5"])
        #expect(one == vary.fields(of: ["Foo": "1", "Accept-Language": "de; q=0.5 ,en", "FOO": "2", "Bar": "x"]))
        #expect(one != vary.fields(of: ["Foo": "2, 1", "Accept-Language": "en, de;q=0.5"]))
        #expect(vary.fields(of: [:]) == [:])
        #expect(vary.fields(of: ["Foo": ""]) != vary.fields(of: [:]))
    }

    @Test(arguments: [
        ("bytes=0-1", 0..<2), ("bytes=3-", 3..<10), ("bytes=-4", 6..<10), ("Bytes=9-99", 9..<10), ("bytes=-99", 0..<10),
    ])
    func aRangeIsReadByItsThreeForms(field: String, range: Range<Int>) {
        #expect(ByteRange.read(field, of: 10) == range)
    }

    @Test(arguments: [
        "", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=10-", "bytes=-0", "bytes=0-1,3-4",
        "lines=0-1",
        "bytes=1", "bytes=--1",
    ])
    func whatIsNoRangeIsNone(field: String) {
        #expect(ByteRange.read(field, of: 10) == nil)
        #expect(ByteRange.read("bytes=0-0", of: 0) == nil)
    }
}
