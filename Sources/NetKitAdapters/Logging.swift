#if SwiftLog
public import Logging
public import NetKit

extension RequestLog {
    /// Writes its lines to a logger, one message each; no secret is in them, as far as ``NetKit/Redaction`` knows its name.
    ///
    /// - Parameters:
    ///   - logger: gets the lines, on any thread.
    ///   - level: of each line.
    ///   - redaction: hides secrets.
    public init(_ logger: Logger, level: Logger.Level = .debug, hiding redaction: Redaction = Redaction()) {
        self.init(redaction) { line in
            logger.log(level: level, "\(line)")
        }
    }
}
#endif
