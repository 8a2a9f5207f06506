import NetKit

/// Rejects incompatible options before anything is sent.
extension Arguments {
    func check() throws(UsageError) {
        if urls.isEmpty {
            throw UsageError("no URL; nk --help lists what there is")
        }
        try checkBodies()
        try checkStandardInput()
        try checkParts()
        try checkFiles()
        try cache.check()
        if netrc != nil && usesDigest && login == nil {
            throw UsageError("-n sends a password as Basic does, in the clear: --digest goes with -u")
        }
        if usesDigest && token != nil {
            throw UsageError("--digest shows a name and a password, --oauth2-bearer a token: choose one")
        }
        if failsOnStatus && failsWithBody {
            throw UsageError("-f leaves the body of a failure out, --fail-with-body writes it: choose one")
        }
        if key != nil && certificate == nil {
            throw UsageError("--key goes with --cert")
        }
    }

    private func checkBodies() throws(UsageError) {
        if uploads.count > urls.count {
            throw UsageError("there are more -T than URLs")
        }
        if sendsDataInURL && data.contains(where: { $0.isJSON }) {
            throw UsageError("-G puts -d and --data-urlencode into the URL, where --json cannot go")
        }
        if asksForHead && !data.isEmpty && !sendsDataInURL {
            throw UsageError("-I asks for the head alone, -d and --json send a body: choose one")
        }
        if !uploads.isEmpty && (asksForHead || (!data.isEmpty && !sendsDataInURL)) {
            throw UsageError("-T sends a file: it goes neither with -I nor with -d and --json")
        }
        if !form.isEmpty && (asksForHead || !data.isEmpty || !uploads.isEmpty) {
            throw UsageError("-F sends a form: it goes neither with -I nor with -d, --json and -T")
        }
    }

    /// Standard input can be read once, and sent to one URL.
    private func checkStandardInput() throws(UsageError) {
        let readers = (headers + proxyHeaders).count { if case .file("-") = $0 { true } else { false } }
        let senders = uploads.count { $0 == "-" } + form.count { $0.readsStandardInput }
        if readers + senders > 1 || readers + senders == 1 && data.contains(where: { $0.file == "-" }) {
            throw UsageError("standard input can be read once only")
        }
        if urls.count > 1 && form.contains(where: { $0.sendsStandardInput }) {
            throw UsageError("standard input can be sent to one URL only; NAME=<- reads it into a field of each")
        }
    }

    private func checkParts() throws(UsageError) {
        if range != nil && downloads.isAsked {
            throw UsageError("-r asks for a part: it goes not with -C, -J, --segments and what else makes a download")
        }
        if range != nil && !uploads.isEmpty {
            throw UsageError("-r asks for a part of what comes, -T sends a file: choose one")
        }
    }

    /// An empty file name is rejected here. Otherwise the error would appear only after everything was sent.
    private func checkFiles() throws(UsageError) {
        if outputs.count > urls.count {
            throw UsageError("there are more -o and -O than URLs")
        }
        let bodies = outputs.compactMap { if case .path(let path) = $0 { ("-o", path) } else { nil } }
        if let (option, _) = (bodies + filesAtTheEnd).first(where: { $0.1.isEmpty }) {
            throw UsageError("\(option) '' names no file")
        }
    }
}
