import NetKit

/// The cookies of -b and -c.
extension TransferRunner {
    /// Loads the cookies of -b, if their files exist. As in curl, a missing file is not an error, because -c may write
    /// it later. If the file of -c cannot be read, that is an error, because its cookies would be lost when it is
    /// written.
    func loadCookies(into agent: Agent) throws(Failure) {
        for path in arguments.cookieFiles where !path.isEmpty {
            let isJar = arguments.cookieJar.map { $0 == path || InputFile.areSame($0, path) } ?? false
            guard let file = isJar ? try readJar(path) : readCookies(path) else { continue }
            if file.foreignLines > 0 {
                let lines = file.foreignLines == 1 ? "1 line" : "\(file.foreignLines) lines"
                warn("ignored \(lines) of \(path): not in the Netscape cookie format")
            }
            do throws(NetError) {
                let loadedCookies = file.cookies.filter { !arguments.dropsSessionCookies || $0.expires != nil }
                try agent.cookies.set(loadedCookies)
            } catch {
                if isJar {
                    throw Failure(ExitCode.read, "cannot read \(path): \(error.message)")
                }
                warn("ignored the cookies in \(path): \(error.message)")
            }
        }
    }

    private func readJar(_ path: String) throws(Failure) -> CookieFile.Contents? {
        do throws(NetError) {
            // The ownership of standard input and devices is not checked, because nk does not write cookies there.
            return path == "-" || InputFile.isDevice(path) ? readCookies(path) : try CookieFile.readJar(path)
        } catch  where SystemError(number: Int32(clamping: error.nativeCode)).isMissingFile {
            return nil  // The directory of the file is missing, which will be reported when the file is written.
        } catch {
            throw Failure(ExitCode.read, "cannot read the cookie jar: \(error.message)")
        }
    }

    /// Returns the contents of a cookie file. If it cannot be read, prints a warning and returns `nil`.
    private func readCookies(_ path: String) -> CookieFile.Contents? {
        do throws(SystemError) {
            return try CookieFile.read(path)
        } catch {
            warn("cannot read cookies from \(path): \(error.message)")
            return nil
        }
    }
}
