import Testing

@testable import NetKit

@Suite(.timeLimit(.minutes(5)))
struct DownloadFeedTests {
    private let feed = DownloadFeed()

    private func tellProgress(_ bytes: Range<Int>) {
        for count in bytes {
            var progress = DownloadProgress()
            progress.received = count
            feed.tell(.progress(progress))
        }
    }

    private func tellOffset(_ offset: Int) {
        feed.tell(.resumed(offset: offset, total: nil))
    }

    /// Returns the byte counts of progress events, and the negated offsets of resumptions.
    private func read() async -> [Int] {
        var numbers: [Int] = []
        for await event in feed.events {
            switch event {
            case .progress(let progress): numbers.append(progress.received)
            case .resumed(let offset, _): numbers.append(-offset)
            case .head: numbers.append(0)
            }
        }
        return numbers
    }

    @Test func whoComesLateFindsOfProgressTheNewestAndAllElse() async {
        tellOffset(7)
        tellProgress(1..<1000)
        tellOffset(9)
        tellProgress(2000..<3000)
        feed.finish()
        #expect(await read() == [-7, 999, -9, 2999])
    }

    @Test func whoIsThereHearsTheEnd() async {
        async let heard = read()
        tellOffset(7)
        await Task.yield()
        tellProgress(1..<100)
        await Task.yield()
        tellOffset(9)
        feed.finish()
        let numbers = await heard
        #expect(numbers.first == -7 && numbers.last == -9 && numbers.contains(99))
        #expect(await read() == [])
    }

    @Test func whoIsCancelledWaitsNoMore() async {
        let reader = Task { await read() }
        tellOffset(7)
        reader.cancel()
        #expect(await reader.value.allSatisfy { $0 == -7 })
    }
}
