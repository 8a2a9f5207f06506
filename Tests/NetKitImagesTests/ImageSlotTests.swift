#if Images
import NetKit
import NetKitImages
import NetKitTesting
import Testing

@Suite(.timeLimit(.minutes(5))) @MainActor
struct ImageSlotTests {
    private let gate = StubGate()
    private let stub = StubTransport()
    private let downloader: ImageDownloader
    private let shown = Shown()

    /// The image that a view would show. Notifies after each change.
    @MainActor private final class Shown {
        var images: [Image?] = []
        let (changes, teller) = AsyncStream<Void>.makeStream()

        func show(_ image: Image?) {
            images.append(image)
            teller.yield()
        }

        func change() async {
            for await _ in changes {
                return
            }
        }
    }

    init() throws {
        downloader = ImageDownloader(agent: stub.agent)
        stub.register("/1", with: StubReply.bytes(try plain(1, 1).png(), contentType: "image/png").held(by: gate))
        stub.register("/2", with: .bytes(try plain(2, 2).png(), contentType: "image/png"))
        stub.register("/404", with: .status(404))
    }

    private func slot() -> ImageSlot { ImageSlot(downloader) { [shown] in shown.show($0) } }

    private func request(_ name: String) -> ImageRequest { ImageRequest("http://stub/\(name)") }

    @Test func placeholderIsShownUntilTheImageArrives() async throws {
        let slot = slot()
        slot.load(request("2"), placeholder: try plain(9, 9))
        #expect(shown.images.map { $0?.width } == [9])
        #expect(slot.active?.url == "http://stub/2")
        await shown.change()
        await shown.change()
        #expect(shown.images.map { $0?.width } == [9, 2])
        #expect(slot.active == nil)
    }

    @Test func cachedImageIsShownImmediately() async throws {
        _ = try await downloader.image(request("2"))
        let slot = slot()
        slot.load(request("2"), placeholder: try plain(9, 9))
        #expect(shown.images.map { $0?.width } == [2])
        #expect(slot.active == nil)
    }

    @Test func reloadReplacesARequestThatMayUseTheCache() async throws {
        let slot = slot()
        slot.load(request("1"))
        try await gate.waitForArrivals(1)
        var reload = request("1")
        reload.cachePolicy = .reload
        slot.load(reload)
        #expect(slot.active?.cachePolicy == .reload)
        slot.load(request("1"))  // The running reload is used for this request.
        #expect(slot.active?.cachePolicy == .reload)
        gate.open()
        await shown.change()
        #expect(shown.images.map { $0?.width } == [1])
        #expect(stub.requests.last?.headers["Cache-Control"] == "no-cache")
    }

    @Test func identicalRequestIsIgnoredWhileInFlight() async throws {
        let slot = slot()
        slot.load(request("1"), placeholder: try plain(9, 9))
        slot.load(request("1"), placeholder: try plain(8, 8))
        #expect(shown.images.map { $0?.width } == [9])
        try await gate.waitForArrivals(1)
        gate.open()
        await shown.change()
        await shown.change()
        #expect(shown.images.map { $0?.width } == [9, 1])
        #expect(stub.requests.count == 1)
    }

    @Test func resultOfAnEarlierRequestIsDropped() async throws {
        let slot = slot()
        slot.load(request("1"), failure: { _ in Issue.record("what was given up fails for nobody") })
        try await gate.waitForArrivals(1)
        slot.load(request("2"))
        gate.open()
        await shown.change()
        #expect(shown.images.map { $0?.width } == [2])
        // The first image is requested again, because its transfer was cancelled.
        let again = try await downloader.image(request("1"))
        #expect(again.image.width == 1)
        #expect(shown.images.map { $0?.width } == [2])
    }

    @Test func requestWithoutAURLShowsThePlaceholderAndFailsImmediately() throws {
        let slot = slot()
        var codes: [NetError.Code] = []
        slot.load(nil, placeholder: try plain(9, 9), failure: { codes.append($0.code) })
        slot.load(ImageRequest(""), failure: { codes.append($0.code) })
        #expect(codes == [.badURL, .badURL])
        #expect(shown.images.map { $0?.width } == [9, nil])
    }

    @Test func successHandlerReplacesShowingTheImage() async throws {
        let slot = slot()
        let width = await withCheckedContinuation { continuation in
            slot.load(request("2"), success: { continuation.resume(returning: $0.image.width) })
        }
        #expect(width == 2 && shown.images.isEmpty)
        slot.load(request("2"), success: { #expect($0.isFromCache) })
        #expect(shown.images.isEmpty)
    }

    @Test func failureIsReportedAndLeavesTheShownImage() async throws {
        let slot = slot()
        let code = await withCheckedContinuation { continuation in
            slot.load(request("404"), failure: { continuation.resume(returning: $0.code) })
        }
        #expect(code == .status && shown.images.isEmpty && slot.active == nil)
    }

    @Test func cancelledRequestShowsNothing() async throws {
        let slot = slot()
        slot.load(request("1"), failure: { _ in Issue.record("a cancel is no failure") })
        try await gate.waitForArrivals(1)
        slot.cancel()
        #expect(slot.active == nil)
        gate.open()
        while downloader.activeCount > 0 {
            await Task.yield()
        }
        #expect(shown.images.isEmpty)
    }

    @Test func buttonHasAnImageSlotForEachState() async throws {
        struct State: Hashable, Sendable {
            var name: String
            var isBackground = false
        }
        var byState: [State: Int] = [:]
        let (changes, teller) = AsyncStream<Void>.makeStream()
        let slots = ImageSlots<State>(downloader) { state, image in
            byState[state] = image?.width
            teller.yield()
        }
        slots[State(name: "normal")].load(request("2"))
        slots[State(name: "normal", isBackground: true)].load(request("1"))
        slots[State(name: "highlighted")].load(request("1"))
        slots[State(name: "highlighted")].cancel()
        gate.open()
        var iterator = changes.makeAsyncIterator()
        await iterator.next()
        await iterator.next()
        #expect(byState == [State(name: "normal"): 2, State(name: "normal", isBackground: true): 1])
        slots[State(name: "third")].load(request("404"), failure: { _ in Issue.record("it was cancelled") })
        slots.cancelAll()
        #expect(slots[State(name: "third")].active == nil)
    }
}
#endif
