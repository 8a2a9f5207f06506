import NetKit
import Testing

struct RedactionTests {
    private let redaction = Redaction()

    @Test(arguments: [
        "Authorization", "Proxy-Authorization", "Cookie", "set-cookie", "X-Api-Key", "X-API_KEY", "apikey",
        "access_token",
        "refreshToken", "client_secret", "Password", "user[password]", "user[pin]", "user[api_key][]", "keys[0][jwt]",
        "pin[\u{301}0]",
        "SessionID", "X-Amz-Signature", "sig", "X-Auth",
    ])
    func commonSecretNamesAreRecognized(name: String) {
        #expect(Redaction.Names.usual.contains(name))
    }

    @Test(arguments: ["Accept", "Content-Type", "q", "page", "name", "Host", "ETag", ""])
    func otherNamesAreNotSecrets(name: String) {
        #expect(!Redaction.Names.usual.contains(name))
    }

    @Test(arguments: [
        ("http://a/", "http://a/"), ("http://u:p@a/b", "http://a/b"),
        ("http://a/?q=1&token=s", "http://a/?q=1&token=[hidden]"),
        ("http://a/?token=s#x", "http://a/?token=[hidden]#x"),
        ("http://a/#access_token=s", "http://a/#access_token=[hidden]"),
        ("http://a/?t%6fken=s", "http://a/?t%6fken=[hidden]"), ("http://a/?token", "http://a/?token"),
        ("http://a/?token=a=b&x", "http://a/?token=[hidden]&x"),
        ("http://a/?%zz=1&pin=2", "http://a/?%zz=1&pin=[hidden]"),
        ("http://a/?q=1#token=2?x", "http://a/?q=1#token=[hidden]"),
        ("http://a/?user%5Bpassword%5D=s&b", "http://a/?user%5Bpassword%5D=[hidden]&b"),
        ("", ""), ("/?sig=1", "/?sig=[hidden]"), ("http://a/#", "http://a/#"), ("http://a/?#", "http://a/?#"),
        ("http://a/#token=s&state=/home?tab=1", "http://a/#token=[hidden]&state=/home?tab=1"),
        ("http://a/#/in?token=s&b", "http://a/#/in?token=[hidden]&b"),
        ("http://a/#state=/x?token=s", "http://a/#state=/x?token=[hidden]"),
        ("http://a/?q=1#s=2&token=s?x=1#y", "http://a/?q=1#s=2&token=[hidden]"),
        ("//u:p@a/b?q", "//a/b?q"), ("//a/b@c", "//a/b@c"),
        ("/?next=https://u:p@a/", "/?next=https://a/"), ("/?next=//u:p@a/&x=1", "/?next=//a/&x=1"),
        ("/?next=https%3A%2F%2Fa%2F%3Ftoken%3Ds&x=1", "/?next=[hidden]&x=1"),
        ("/?next=https%3A%2F%2Fu%3Ap%40a%2F", "/?next=[hidden]"),
        ("/?next=%2Fa%3Fb%3D%252F%253Fpin%253D1", "/?next=[hidden]"),
        ("/?next=https%3A%2F%2Fa%2F%3Fpage%3D2", "/?next=https%3A%2F%2Fa%2F%3Fpage%3D2"),
        ("/?next=%252Fa%253Ftoken%253Ds", "/?next=[hidden]"), ("/?q=100%2525", "/?q=100%2525"),
        ("/?next=https%253A%252F%252Fu%253Ap%2540a%252F", "/?next=[hidden]"),
        ("/?mail=me%40a.example", "/?mail=me%40a.example"),
        // A delimiter counts even if a combining accent follows it.
        ("http://a/?token=\u{301}s", "http://a/?token=[hidden]"),
        ("http://a/?q=1&\u{301}token=s", "http://a/?q=1&\u{301}token=[hidden]"),
        ("http://a/?\u{301}token=s", "http://a/?\u{301}token=[hidden]"),
        ("http://a/#\u{301}token=s&x", "http://a/#\u{301}token=[hidden]&x"),
    ])
    func onlySecretsAreRedactedInURLs(url: String, shown: String) {
        #expect(redaction.hiding(url: url) == shown)
    }

    @Test(arguments: [
        ("/x" + String(repeating: "?a=", count: 20_000) + "%" + String(repeating: "25", count: 2_000) + "41&pin=s"),
        ("/?a=" + String(repeating: "?a=", count: 20_000) + "?pin=s"),
        ("/?a=%" + String(repeating: "25", count: 20_000) + "3Fpin=s"),
        ("/?" + String(repeating: "a=/b%3Fc%3D/d%253Fe?f=&", count: 2_000) + "pin=s"),
    ])
    func tooDeeplyNestedURLsAreRedactedWhole(url: String) {
        let shown = redaction.hiding(["Location": url])["Location"] ?? ""
        #expect(shown.contains("[hidden]") && !shown.contains("pin=s"))
    }

    @Test func urlsNestedFourDeepAreRedacted() {
        #expect(redaction.hiding(url: "/?a=/?b=/?c=/?d=/x&pin=s") == "/?a=/?b=/?c=/?d=/x&pin=[hidden]")
        #expect(redaction.hiding(url: "/?a=?b=?c=?d=?pin=s") == "/?a=?b=?c=?d=?pin=[hidden]")
        #expect(redaction.hiding(url: "/?a=?b=?c=?d=?e=?f=1") == "/?a=?b=?c=?d=?e=[hidden]")
    }

    @Test func secretsAreRedactedInAFieldWithManyLinks() {
        let count = 30_000
        let shown = redaction.hiding(["Link": String(repeating: "<?sig=1>,", count: count)])["Link"]
        #expect(shown == String(repeating: "<?sig=[hidden]>,", count: count))
    }

    @Test func fieldsKeepTheirNamesAndOrder() {
        let fields: Headers = ["A": "1", "authorization": "s", "Location": "/x?token=s", "Cookie": "s", "A": "2"]
        #expect(
            redaction.hiding(fields).map { "\($0.name): \($0.value)" } == [
                "A: 1", "authorization: [hidden]", "Location: /x?token=[hidden]", "Cookie: [hidden]", "A: 2",
            ])
    }

    @Test(arguments: [
        ("<http://u:p@a/?page=2&token=s>; rel=next", "<http://a/?page=2&token=[hidden]>; rel=next"),
        (
            "</?token=s>; rel=\"next\", <http://a/?q=1&sig=s#x>; rel=last; title=\"a>b\"",
            "</?token=[hidden]>; rel=\"next\", <http://a/?q=1&sig=[hidden]#x>; rel=last; title=\"a>b\""
        ),
        ("<http://a/?token=s", "<http://a/?token=[hidden]"), ("", ""), ("<>; rel=next", "<>; rel=next"),
    ])
    func onlySecretsAreRedactedInLinks(field: String, shown: String) {
        #expect(redaction.hiding(["Link": .init(field)])["Link"] == shown)
        #expect(redaction.hiding(["Refresh": "5; url=/in?token=s"])["Refresh"] == "5; url=/in?token=[hidden]")
    }

    private func shown(_ body: String, _ type: String? = "application/json") -> String? {
        redaction.hiding(body: Bytes(Array(body.utf8)), contentType: type)
    }

    @Test(arguments: [
        (#"{"a":1}"#, #"{"a":1}"#), (#"{"password":"s"}"#, #"{"password":"[hidden]"}"#),
        (#"{"password" : "s\"x" , "b":2}"#, #"{"password":"[hidden]" , "b":2}"#),
        (#"{"token":12345}"#, #"{"token":"[hidden]"}"#), (#"{"token":null,"b":1}"#, #"{"token":"[hidden]","b":1}"#),
        (#"{"token":{"x":["s","}"]},"b":1}"#, #"{"token":"[hidden]","b":1}"#),
        (#"{"token":["s",{"y":"]"}]}"#, #"{"token":"[hidden]"}"#),
        (#"[{"x":{"secret":"s"}}]"#, #"[{"x":{"secret":"[hidden]"}}]"#),
        (#"{"pass\u0077ord":"s"}"#, #"{"pass\u0077ord":"[hidden]"}"#),
        (#"["token","s"]"#, #"["token","s"]"#),
        (#"{"x":"token","token2":"s\\"}"#, #"{"x":"token","token2":"[hidden]"}"#),
        ("{\"token\"\n:\n\"s\"\n}", "{\"token\":\"[hidden]\"\n}"), ("\"token\"", "\"token\""),
    ])
    func secretMembersAreRedactedInJSON(body: String, expected: String) {
        #expect(shown(body) == expected)
        #expect(shown(body, nil) == expected)
        #expect(shown(body, "application/problem+json; charset=utf-8") == expected)
    }

    @Test(arguments: [
        "{token: s}", #"{"token": "s"#, "", "{'token': 's'}", "token=s", #"{"token":"s"} x"#, "\u{FEFF}{}",
    ])
    func malformedJSONIsNotShown(body: String) {
        #expect(shown(body) == nil)
    }

    @Test func secretFieldsAreRedactedInForms() {
        #expect(shown("a=1&password=s&b", "application/x-www-form-urlencoded") == "a=1&password=[hidden]&b")
        #expect(shown("p%61ssword=s", "Application/X-WWW-Form-URLEncoded; charset=utf-8") == "p%61ssword=[hidden]")
    }

    @Test(arguments: ["text/plain", "multipart/form-data; boundary=x", "application/octet-stream", "text/html"])
    func otherBodiesAreNotShown(type: String) {
        #expect(shown("{}", type) == nil)
    }
}
