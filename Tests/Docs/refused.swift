// Members that an endpoint cannot have. The compiler must refuse each line that is marked, and no other one:
// an endpoint never ignores a member because of its type. Checked by script/docs snippets.
import NetKit

struct Method: Endpoint { typealias Value = Int; let path = ""; let method = 5 }  // refused
struct Fields: Endpoint { typealias Value = Int; let path = ""; let headers = 5 }  // refused
struct Payload: Endpoint { typealias Value = Int; let path = ""; let body = 5 }  // refused
struct Payloads: Endpoint { typealias Value = Int; let path = ""; let body = ["a": 1] }  // refused
struct Base: Endpoint { typealias Value = Int; let path = ""; let baseURL = 5 }  // refused
struct Query: Endpoint { typealias Value = Int; let path = ""; let parameters = 5 }  // refused
struct URLQuery: Endpoint { typealias Value = Int; let path = ""; let query = 5 }  // refused
struct Decoded: Endpoint { typealias Value = Int; let path = ""; let decoding = Decoding<String>.automatic }  // refused
struct Undecoded: Endpoint { typealias Value = Int; let path = ""; let decoding = 5 }  // refused
struct Place: Endpoint { typealias Value = Int; let path = 5 }  // refused
struct Placement: Endpoint { typealias Value = Int; let path = ""; let parameterPlacement = "query" }  // refused
struct Login: Endpoint { typealias Value = Int; let path = ""; let credentials = "token" }  // refused
struct Times: Endpoint { typealias Value = Int; let path = ""; let limits = 5 }  // refused
struct Timeout: Endpoint { typealias Value = Int; let path = ""; let timeout = 5.0 }  // refused
struct Store: Endpoint { typealias Value = Int; let path = ""; let caching = true }  // refused
struct Redirects: Endpoint { typealias Value = Int; let path = ""; let redirects = false }  // refused
struct Again: Endpoint { typealias Value = Int; let path = ""; let retries = 3 }  // refused
struct Urgency: Endpoint { typealias Value = Int; let path = ""; let priority = 5 }  // refused
struct Statuses: Endpoint { typealias Value = Int; let path = ""; let acceptedStatuses = "200" }  // refused
struct Types: Endpoint { typealias Value = Int; let path = ""; let acceptedTypes = "text/plain" }  // refused
struct Shape: Endpoint { typealias Value = Int; let path = ""; let shape = "number" }  // refused
struct Tag: Endpoint { typealias Value = Int; let path = ""; let tag = "cities" }  // refused
struct Info: Endpoint { typealias Value = Int; let path = ""; let userInfo = ["page"] }  // refused
struct Company: Endpoint { typealias Value = Int; let path = ""; let listeners = 5 }  // refused
struct Hook: Endpoint { typealias Value = Int; let path = ""; let interceptors = 5 }  // refused
struct Whole: Endpoint { typealias Value = Int; let path = ""; let completeRequest = "http://h" }  // refused
struct Key: Endpoint { typealias Value = Int; let path = ""; let cacheKeyParameters = ["a"] }  // refused
struct End: Endpoint { typealias Value = Int; let path = ""; func finish(_ a: inout Request<String>) {} }  // refused
struct Owner: Endpoint { typealias Value = Int; let path = ""; let service = "api" }  // refused

struct Accepted: Endpoint { typealias Value = Int; let path = ""; let method = "POST"; let headers = ["a": "b"] }
struct Decodes: Endpoint { typealias Value = Int; let path = ""; let decoding = Decoding<Int> { $0.status } }
struct Timed: Endpoint { typealias Value = Int; let path = ""; let timeout: Duration = .seconds(5) }
struct Asks: Endpoint { typealias Value = Int; let path = ""; let q: String; var query: Parameters { ["q": q] } }
struct Lists: Endpoint { typealias Value = Int; let path = ""; let q: String; var parameters: Parameters? { ["q": q] } }
