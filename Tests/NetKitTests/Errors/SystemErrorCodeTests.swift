#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Testing

@testable import NetKit

struct SystemErrorCodeTests {
    @Test(arguments: [
        (EMFILE, NetError.Code.descriptors), (ENFILE, .descriptors), (ENOMEM, .noMemory), (EACCES, .file),
        (ENOSPC, .file),
    ])
    func resourceExhaustionIsNotReportedAsAFileError(number: Int32, code: NetError.Code) {
        let error = NetError(system: number, "'film' cannot be opened")
        #expect(error.code == code)
        #expect(error.nativeCode == Int(number))
        #expect(error.message.hasPrefix("'film' cannot be opened: "))
    }
}
