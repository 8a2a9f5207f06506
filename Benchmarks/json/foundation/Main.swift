// Foundation's two parsers, one document repeatedly: bench-json serialization|decoder DOCUMENT KIND.
// Prints "ns=… bytes=…", CPU time of the median batch, like Benchmarks/json/timing.h.
import Foundation

struct Tweets: Decodable {
    struct User: Decodable {
        let id: Int
        let name: String
        let screen_name: String
        let description: String
        let url: String?
        let followers_count: Int
        let verified: Bool
    }
    struct Status: Decodable {
        let created_at: String
        let id: Int
        let text: String
        let truncated: Bool
        let user: User
        let retweet_count: Int
    }
    let statuses: [Status]
}

struct Catalogue: Decodable {
    struct Price: Decodable {
        let amount: Int
        let seatCategoryId: Int
    }
    struct Area: Decodable { let areaId: Int }
    struct Category: Decodable {
        let areas: [Area]
        let seatCategoryId: Int
    }
    struct Performance: Decodable {
        let eventId: Int
        let logo: String?
        let prices: [Price]
        let seatCategories: [Category]
        let start: Int
        let venueCode: String
    }
    let performances: [Performance]
}

struct Coordinates: Decodable {
    struct Geometry: Decodable {
        let type: String
        let coordinates: [[[Double]]]
    }
    struct Feature: Decodable { let geometry: Geometry }
    let features: [Feature]
}

struct Small: Decodable {
    struct Address: Decodable {
        let street: String
        let city: String
        let geo: [Double]
    }
    let id: Int
    let name: String
    let isActive: Bool
    let score: Double
    let tags: [String]
    let address: Address
}

func processorNanoseconds() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
    return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

func measure(_ once: () throws -> Void) rethrows -> Double {
    var began = processorNanoseconds()
    var runs = 0
    while runs == 0 || processorNanoseconds() - began < 5e6 {
        try once()
        runs += 1
    }
    var batches: [Double] = []
    for _ in 0..<11 {
        began = processorNanoseconds()
        for _ in 0..<runs { try once() }
        batches.append((processorNanoseconds() - began) / Double(runs))
    }
    return batches.sorted()[batches.count / 2]
}

@main
struct Main {
    static func main() throws {
        let arguments = CommandLine.arguments
        guard arguments.count > 3 else { exit(2) }
        let data = try Data(contentsOf: URL(fileURLWithPath: arguments[2]))
        let decoder = JSONDecoder()
        let nanoseconds = try measure {
            switch (arguments[1], arguments[3]) {
            case ("serialization", _): _ = try JSONSerialization.jsonObject(with: data)
            case (_, "tweets"): _ = try decoder.decode(Tweets.self, from: data)
            case (_, "catalogue"): _ = try decoder.decode(Catalogue.self, from: data)
            case (_, "coordinates"): _ = try decoder.decode(Coordinates.self, from: data)
            default: _ = try decoder.decode(Small.self, from: data)
            }
        }
        print("ns=\(nanoseconds) bytes=\(data.count)")
    }
}
