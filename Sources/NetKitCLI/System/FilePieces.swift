/// The chunks of a regular file from its beginning. It can be read several times.
struct FilePieces: AsyncSequence, Sendable {
    typealias Element = [UInt8]

    let path: String

    func makeAsyncIterator() -> Iterator {
        Iterator(path: path)
    }

    struct Iterator: AsyncIteratorProtocol {
        fileprivate let path: String
        private var file: InputFile?

        fileprivate init(path: String) {
            self.path = path
        }

        mutating func next() async throws -> [UInt8]? {
            do throws(SystemError) {
                let piece = try opened().next()
                return piece.isEmpty ? nil : piece
            } catch {
                throw NetKitCLI.Failure(reading: error, from: path)
            }
        }

        private mutating func opened() throws(SystemError) -> InputFile {
            if let file {
                return file
            }
            let opened = try InputFile(path)
            file = opened
            return opened
        }
    }
}
