import CMeasure
import NetKit
import NetKitImages

/// Measures a cached image: through the downloader, and from the cache itself.
@main
struct Main {
    static func main() async throws {
        let words = CommandLine.arguments
        guard words.count == 3, let count = Int(words[2]), count > 0 else {
            print("usage: bench-images downloader|cache COUNT")
            return
        }
        let cache = AutoPurgingImageCache()
        // Nothing is sent: every request has a cache hit.
        let downloader = ImageDownloader(agent: Agent(), cache: cache)
        let requests = (0..<100).map { ImageRequest("http://127.0.0.1:9/images/photo-\($0).jpg") }
        let image = try Image(width: 64, height: 64, pixels: [UInt8](repeating: 127, count: 64 * 64 * 4))
        for request in requests {
            cache.insert(image, for: ImageKey(request))
        }
        var sum = 0
        let start = bench_usage_now()
        if words[1] == "cache" {
            for number in 0..<count {
                sum += cache.image(for: ImageKey(requests[number % 100]))?.width ?? 0
            }
        } else {
            for number in 0..<count {
                sum += try await downloader.image(requests[number % 100]).image.width
            }
        }
        let end = bench_usage_now()
        precondition(sum == count * 64)
        print("cpu=\((end.cpu_s - start.cpu_s) * 1e6 / Double(count)) wall_s=\(end.wall_s - start.wall_s) rss_kb=0")
    }
}
