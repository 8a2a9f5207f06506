import NetKit

/// Checks the command line as a whole, before anything is sent.
extension Arguments {
    func check() throws(UsageError) {
        if urls.isEmpty {
            throw UsageError("no URL given; see nk --help")
        }
        try checkBodies()
        try checkStandardInput()
        try checkParts()
        try checkFiles()
        try cache.check()
        if urls.count > 1 && (etagInput != nil || etagOutput != nil) {
            throw UsageError("--etag-compare and --etag-save work with one URL; use --next to give each its own")
        }
        if netrc != nil && usesDigest && login == nil {
            throw UsageError("--digest cannot use -n, which sends Basic; use -u with --digest")
        }
        if usesDigest && token != nil {
            throw UsageError("--digest and --oauth2-bearer cannot be combined; choose one")
        }
        if failsOnStatus && failsWithBody {
            throw UsageError("-f and --fail-with-body cannot be combined; choose one")
        }
        if key != nil && certificate == nil {
            throw UsageError("--key requires --cert")
        }
    }

    private func checkBodies() throws(UsageError) {
        if uploads.count > urls.count {
            throw UsageError("more -T options than URLs; add a URL for each")
        }
        if sendsDataInURL && data.contains(where: { $0.isJSON }) {
            throw UsageError("-G cannot be combined with --json; use -d or --data-urlencode")
        }
        if usesHeadMethod && !data.isEmpty && !sendsDataInURL {
            throw UsageError("-I cannot be combined with -d or --json, which send a body")
        }
        if !uploads.isEmpty && (usesHeadMethod || (!data.isEmpty && !sendsDataInURL)) {
            throw UsageError("-T cannot be combined with -I, -d or --json")
        }
        if !form.isEmpty && (usesHeadMethod || !data.isEmpty || !uploads.isEmpty) {
            throw UsageError("-F cannot be combined with -I, -d, --json or -T")
        }
    }

    /// Throws an error if options need standard input more than once, because it can be read only once.
    private func checkStandardInput() throws(UsageError) {
        let readers = (headers + proxyHeaders).count { if case .file("-") = $0 { true } else { false } }
        let senders = uploads.count { $0 == "-" } + form.count { $0.readsStandardInput }
        if readers + senders > 1 || readers + senders == 1 && data.contains(where: { $0.file == "-" }) {
            throw UsageError("standard input can be read only once")
        }
        if urls.count > 1 && form.contains(where: { $0.sendsStandardInput }) {
            throw UsageError(
                "standard input can be sent to one URL only; use -F 'NAME=<-' to send it as text to each URL")
        }
    }

    private func checkParts() throws(UsageError) {
        if range != nil && downloads.isRequested {
            throw UsageError("-r cannot be combined with download options such as -C, -J and --segments")
        }
        if range != nil && !uploads.isEmpty {
            throw UsageError("-r cannot be combined with -T")
        }
    }

    /// Throws an error for an empty file name. Otherwise the file would cause an error only after everything was sent.
    private func checkFiles() throws(UsageError) {
        if outputs.count > urls.count {
            throw UsageError("more -o and -O options than URLs; add a URL for each")
        }
        let bodies = outputs.compactMap { if case .path(let path) = $0 { ("-o", path) } else { nil } }
        if let (option, _) = (bodies + filesAtTheEnd).first(where: { $0.1.isEmpty }) {
            throw UsageError("\(option) '' is not a file name")
        }
    }
}
