/// The chunks of a regular file. The file can be read several times, each time from its beginning.
struct FileChunks: AsyncSequence, Sendable {
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
                let piece = try openFile().next()
                return piece.isEmpty ? nil : piece
            } catch {
                throw NetKitCLI.Failure(reading: error, from: path)
            }
        }

        private mutating func openFile() throws(SystemError) -> InputFile {
            if let file {
                return file
            }
            let newFile = try InputFile(path)
            file = newFile
            return newFile
        }
    }
}
