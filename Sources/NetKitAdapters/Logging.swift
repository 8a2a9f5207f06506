#if SwiftLog
public import Logging
public import NetKit

extension RequestLog {
    /// Creates a log that writes each line as a message to a logger. Values whose names denote secrets are hidden by
    /// `redaction`.
    ///
    /// - Parameters:
    ///   - logger: the logger, which is called on any thread.
    ///   - level: the level of the messages.
    ///   - redaction: recognizes secrets.
    public init(_ logger: Logger, level: Logger.Level = .debug, hiding redaction: Redaction = Redaction()) {
        self.init(redaction: redaction) { line in
            logger.log(level: level, "\(line)")
        }
    }
}
#endif
