/// What is asked at one start of a request.
private struct StartAnswers: Sendable {
    /// Nil leaves those of the request.
    var ownParameters: Parameters?
    var parameters: Parameters?
    var headers = Headers()
}

extension Agent.Configuration {
    /// Whether requests get more than a base URL and fields that are always the same.
    var addsToRequests: Bool {
        !urlFilters.isEmpty || parameters != nil || computedParameters != nil || computedHeaders != nil
    }
}

extension Agent {
    /// A call with everything that the agent and the service add; who computes some of it is asked now.
    func prepared(_ call: Call) async throws(NetError) -> Call {
        guard addsToRequests || call.request.hasNotes else {
            var call = call
            try preparePlain(&call)
            return call
        }
        return try placed(call, adding: try await answers(to: call.request))
    }

    /// The same for a request that gets nothing but a base URL and fields that are always the same.
    func preparePlain(_ call: inout Call) throws(NetError) {
        let limits = call.kind == .send ? limits : streamLimits
        let asked = call.request.kept
        call.request = try completed(call.request, limits: limits)
        call.origin = CallOrigin(
            asked, others: nil,
            base: URLBase(url: configuration.baseURL, keepsPath: configuration.keepsBasePath),
            placedURL: call.request.url)
    }

    /// The same for a request of which nobody has to be asked.
    func preparedNow(_ call: Call) throws(NetError) -> Call {
        let request = call.request
        let service = request.service?.configuration
        let isAskedForParameters =
            request.parameterSource != nil || configuration.computedParameters != nil
            || service?.computedParameters != nil
        let isAsked =
            configuration.computedHeaders != nil || service?.computedHeaders != nil
            || (isAskedForParameters && !request.isPlaced)
        if isAsked, !request.isComplete {
            throw NetError(.usage, "what the request is depends on who is asked when it starts")
        }
        return try placed(call, adding: StartAnswers())
    }

    // MARK: What is asked

    private func answers(to asked: Request<Bytes>) async throws(NetError) -> StartAnswers {
        var answers = StartAnswers()
        guard !asked.isComplete else { return answers }
        do {
            var request = asked
            let isPlaced = asked.isPlaced
            if !isPlaced, let own = try await request.parameterSource?.ask(request) {
                request.parameters = own
                answers.ownParameters = own
            }
            // What a service says wins over what its agent says.
            let service = request.service?.configuration
            for compute in [service?.computedParameters, configuration.computedParameters] where !isPlaced {
                let said = try await compute?(request)
                answers.parameters = answers.parameters?.filled(from: said) ?? said
                if let said, !said.hasFields {
                    throw NetError(.usage, "the parameters of every request are an object")
                }
            }
            for compute in [service?.computedHeaders, configuration.computedHeaders] {
                if let said = try await compute?(request) {
                    answers.headers = answers.headers.filled(from: said)
                }
            }
            return answers
        } catch {
            throw NetError(asking: error, .badParameter, "what was asked for a request's parameters or fields failed")
        }
    }

    // MARK: What is added

    private func placed(_ call: Call, adding answers: StartAnswers) throws(NetError) -> Call {
        var request = call.request
        var surroundings = Surroundings(
            base: URLBase(url: configuration.baseURL, keepsPath: configuration.keepsBasePath),
            headers: defaultHeaders, limits: call.kind == .send ? limits : streamLimits)
        if request.isComplete {
            surroundings.base.url = nil
            surroundings.headers = [:]
        } else {
            if let own = answers.ownParameters {
                request.parameters = own
            }
            try surround(&request, &surroundings, answers, isWhole: call.kind == .send)
        }
        var content = try surroundings.base.placing(request.content, with: surroundings.parameters)
        var headers = request.headers.filled(from: surroundings.headers)
        complete(&content, &headers, limits: surroundings.limits)
        var placed = call
        placed.request = Request<Bytes>(KeptContent(content), headers: headers, decoding: .bytes)
        let isChanged = surroundings.parameters != nil || answers.ownParameters != nil || surroundings.isFiltered
        if isChanged || request.isPlaced {
            placed.request.markPlaced()
        }
        placed.origin = CallOrigin(
            request.kept, others: surroundings.parameters, base: surroundings.base, placedURL: content.url)
        return placed
    }

    /// What is around a request that is not bare.
    private func surround(
        _ request: inout Request<Bytes>, _ surroundings: inout Surroundings, _ answers: StartAnswers, isWhole: Bool
    ) throws(NetError) {
        let service = request.service
        surroundings.base.url = try baseURL(of: request, of: service)
        if !request.isPlaced {
            surroundings.parameters = [answers.parameters, service?.configuration.parameters, configuration.parameters]
                .compactMap { $0 }.reduce(nil) { $0?.filled(from: $1) ?? $1 }
            if request.isOfServersMaking {
                surroundings.parameters = surroundings.parameters?.without(namesIn: request.url)
            }
            let isAbsolute = request.content.hasAbsoluteURL
            let asked = request
            for filter in configuration.urlFilters where filter.filtersAbsoluteURLs || !isAbsolute {
                request.url = try filter.filtered(request.url, of: asked)
                surroundings.isFiltered = true
            }
        }
        if let service {
            service.addNotes(to: &request)
            if var limits = service.configuration.limits {
                if !isWhole {
                    // Idleness ends streams and saves, not their length.
                    limits.total = surroundings.limits.value.total
                    limits.maxBodyBytes = surroundings.limits.value.maxBodyBytes
                }
                surroundings.limits = KeptLimits(limits)
            }
            if let only = service.configuration.replacingHeaders {
                request.headers = only
                surroundings.headers = [:]
                return
            }
        }
        surroundings.headers = answers.headers.filled(from: service?.configuration.headers ?? [:])
            .filled(from: surroundings.headers)
    }

    /// Where a relative URL begins: the request's own base, then the service's, then the agent's; the same for CDNs.
    private func baseURL(of request: Request<Bytes>, of service: Service?) throws(NetError) -> String? {
        let serviceCDN = try service?.cdnURL()
        if request.usesCDN, let url = request.cdnURL.nonEmpty ?? serviceCDN ?? configuration.cdnURL.nonEmpty {
            return url
        }
        if let url = request.baseURL.nonEmpty {
            return url
        }
        // A service that names bases names one for each environment: another one's would be a wrong host.
        let isRelative = !request.content.hasAbsoluteURL
        return try service?.baseURL(isNeeded: isRelative) ?? configuration.baseURL
    }
}

/// What is around a request.
private struct Surroundings {
    var base: URLBase
    var headers: Headers
    var limits: KeptLimits
    var parameters: Parameters?
    /// Whether URL filters were asked.
    var isFiltered = false
}
