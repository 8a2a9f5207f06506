#if SwiftLog
public import Logging
public import NetKit

extension RequestLog {
    /// Writes its lines to a logger, one message each. They contain no secret whose name ``NetKit/Redaction``
    /// recognizes.
    ///
    /// - Parameters:
    ///   - logger: receives the lines, on any thread.
    ///   - level: the level of each line.
    ///   - redaction: hides secrets.
    public init(_ logger: Logger, level: Logger.Level = .debug, hiding redaction: Redaction = Redaction()) {
        self.init(redaction) { line in
            logger.log(level: level, "\(line)")
        }
    }
}
#endif
