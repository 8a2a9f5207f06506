internal import CNetCore

/// The core's decision on a response to a request that may be a redirect. The engine decides with the same function.
struct RedirectDecision {
    /// The next URL.
    let url: String
    /// Whether the method becomes GET, without a body.
    let becomesGet: Bool
    /// Whether the next URL has another origin.
    let isCrossOrigin: Bool

    /// Creates the decision; `nil` if the response is final. Throws the error that ends the call.
    ///
    /// - Parameter count: the number of redirects that were followed before.
    init?(on head: ResponseHead, after request: Request<Bytes>, followed count: Int) throws(NetError) {
        var question = unsafe nc_redirect_question()
        unsafe question.status = UInt16(clamping: head.status)
        unsafe question.is_head = request.method == .head
        unsafe question.is_post = request.method == .post
        unsafe question.keeps_dot_segments = request.keepsDotSegments
        unsafe question.choice = request.redirects.cValue
        unsafe question.followed = UInt32(clamping: count)
        unsafe question.max_redirects = request.limits.redirectLimit
        var decision = nc_redirect_decision()
        var error = nc_error()
        var url = unsafe nc_buf_init(Int(NC_URL_MAX_BYTES) + 1)
        defer { unsafe nc_buf_deinit(&url) }
        let location = Bytes(head.headers.content("Location")?.bytes ?? [])
        var status = unsafe request.url.withSlice { asked in
            unsafe location.withSlice { location in
                unsafe question.url = asked
                unsafe question.location = location
                return unsafe nc_redirect_decide(&decision, &url, &question, &error)
            }
        }
        if status == .NC_OK, decision.is_redirect, !decision.changes_origin {
            status = unsafe request.url.withSlice { unsafe nc_redirect_keep_credentials(&url, $0, &error) }
        }
        if status != .NC_OK {
            throw NetError(error)
        }
        guard decision.is_redirect else { return nil }
        self.url = unsafe nc_buf_slice(&url).text
        becomesGet = decision.becomes_get
        isCrossOrigin = decision.changes_origin
    }
}

extension Method {
    /// Whether the method is safe, which means that it changes nothing on the server (RFC 9110, 9.2.1).
    package var isSafe: Bool { unsafe rawValue.withSlice { unsafe nc_method_is_safe($0) } }

    /// Whether the method is idempotent, which means that sending it twice has the effect of sending it once (RFC 9110,
    /// 9.2.2).
    package var isIdempotent: Bool { unsafe rawValue.withSlice { unsafe nc_method_is_idempotent($0) } }

    /// Returns the method of the request that follows a redirect with this status (RFC 9110, 15.4).
    func afterRedirect(_ status: Int) -> Method {
        nc_redirect_becomes_get(UInt16(clamping: status), self == .head, self == .post) ? .get : self
    }
}

extension Headers {
    /// The fields that may be sent to any origin, because they do not identify the user.
    var safeCrossOrigin: Headers {
        Headers(filter { unsafe $0.name.withSlice { unsafe nc_redirect_keeps_field($0) } })
    }

    /// The fields that do not describe the body.
    var withoutBodyFields: Headers {
        Headers(filter { unsafe !$0.name.withSlice { unsafe nc_redirect_describes_body($0) } })
    }
}
