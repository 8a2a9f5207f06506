/// The results of the closures that are called for one call.
private struct StartAnswers: Sendable {
    var parameters: Parameters?
    var headers = Headers()
    /// Whether the request's source returned its parameters.
    var hasOwnParameters = false
}

extension Agent.Configuration {
    /// Whether requests get more than a base URL and constant fields.
    var addsToRequests: Bool {
        !urlFilters.isEmpty || parameters != nil || computedParameters != nil || computedHeaders != nil
    }
}

extension Agent {
    /// Returns the time for a whole call, from the limits of the request, its service or the agent.
    func budget(of request: Request<some Sendable>, _ kind: Call.Kind) -> TimeBudget {
        if let own = request.limits {
            return TimeBudget(own.total, timer: timer)
        }
        if kind != .send || request.body?.isStreamed == true {
            return TimeBudget(configuration.streamLimits.total, timer: timer)
        }
        return TimeBudget((request.service?.configuration.limits ?? configuration.limits).total, timer: timer)
    }

    /// Returns the call with all additions of agent and service; calls the closures that compute them.
    func prepared(_ call: Call) async throws(NetError) -> Call {
        guard addsToRequests || call.request.hasNotes else {
            var call = call
            try preparePlain(&call)
            return call
        }
        var call = call
        let own = try await ownParameters(of: call.request, within: call.budget)
        if let own {
            call.request.parameters = own
        }
        let destination = try destination(of: call.request)
        var answers = try await answers(to: call.request, at: destination, within: call.budget)
        answers.hasOwnParameters = own != nil
        return try placed(call, at: destination, adding: answers)
    }

    /// Does the same for a request that gets only a base URL and constant fields.
    func preparePlain(_ call: inout Call) throws(NetError) {
        let limits = call.kind == .send ? limits : streamLimits
        let asked = call.request.kept
        call.request = try completed(call.request, limits: limits)
        call.origin = CallOrigin(
            asked, others: nil,
            base: URLBase(url: configuration.baseURL, keepsPath: configuration.keepsBasePath),
            placedURL: call.request.url)
    }

    /// Does the same for a request without closures to call.
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
        return try placed(call, at: try destination(of: request), adding: StartAnswers())
    }

    // MARK: Closures that compute values

    /// Returns the parameters of the request's source, or `nil` to keep its own.
    private func ownParameters(
        of request: Request<Bytes>, within budget: TimeBudget
    ) async throws(NetError) -> Parameters? {
        guard !request.isComplete, !request.isPlaced, let source = request.parameterSource else { return nil }
        do {
            return try await budget.answer(of: "the source of the parameters") { try await source.ask(request) }
        } catch {
            throw Self.notComputed(error)
        }
    }

    /// Calls the closures of agent and service, except those of one that adds nothing to the request.
    private func answers(
        to request: Request<Bytes>, at destination: Destination, within budget: TimeBudget
    ) async throws(NetError) -> StartAnswers {
        var answers = StartAnswers()
        guard !request.isComplete else { return answers }
        let service = destination.outsiders.contains(.service) ? nil : request.service?.configuration
        let agent = destination.outsiders.contains(.agent) ? nil : configuration
        do {
            // The service's values override the agent's.
            for compute in [service?.computedParameters, agent?.computedParameters] where !request.isPlaced {
                guard let compute else { continue }
                let said = try await budget.answer(of: "computedParameters") { try await compute(request) }
                answers.parameters = answers.parameters?.filled(from: said) ?? said
                if let said, !said.hasFields {
                    throw NetError(.usage, "the parameters of every request are an object")
                }
            }
            for compute in [service?.computedHeaders, agent?.computedHeaders] {
                guard let compute else { continue }
                let said = try await budget.answer(of: "computedHeaders") { try await compute(request) }
                answers.headers = answers.headers.filled(from: said)
            }
            return answers
        } catch {
            throw Self.notComputed(error)
        }
    }

    private static func notComputed(_ error: any Error) -> NetError {
        NetError(asking: error, .badParameter, "what was asked for a request's parameters or fields failed")
    }

    // MARK: Additions

    private func placed(
        _ call: Call, at destination: Destination, adding answers: StartAnswers
    ) throws(NetError) -> Call {
        var request = call.request
        request.url = destination.url
        var surroundings = Surroundings(
            base: URLBase(url: destination.base, keepsPath: configuration.keepsBasePath),
            headers: destination.outsiders.contains(.agent) ? elsewhereHeaders : defaultHeaders,
            limits: call.kind == .send ? limits : streamLimits)
        if request.isComplete {
            surroundings.headers = [:]
        } else {
            surround(&request, &surroundings, answers, destination.outsiders, isWhole: call.kind == .send)
        }
        var content = try surroundings.base.placing(request.content, with: surroundings.parameters)
        var headers = request.headers.filled(from: surroundings.headers)
        withhold(destination.outsiders, from: &content)
        complete(&content, &headers, limits: surroundings.limits)
        var placed = call
        placed.request = Request<Bytes>(KeptContent(content), headers: headers, decoding: .bytes)
        let isChanged = surroundings.parameters != nil || answers.hasOwnParameters || destination.isFiltered
        if isChanged || request.isPlaced {
            placed.request.markPlaced()
        }
        placed.origin = CallOrigin(
            request.kept, others: surroundings.parameters, base: surroundings.base, placedURL: content.url)
        return placed
    }

    /// Collects the additions to a request that is not bare.
    private func surround(
        _ request: inout Request<Bytes>, _ surroundings: inout Surroundings, _ answers: StartAnswers,
        _ outsiders: Outsiders, isWhole: Bool
    ) {
        let service = request.service
        if !request.isPlaced {
            let parameters = [
                answers.parameters, outsiders.contains(.service) ? nil : service?.configuration.parameters,
                outsiders.contains(.agent) ? nil : configuration.parameters,
            ]
            surroundings.parameters = parameters.compactMap { $0 }.reduce(nil) { $0?.filled(from: $1) ?? $1 }
            if request.isOfServersMaking {
                surroundings.parameters = surroundings.parameters?.without(namesIn: request.url)
            }
        }
        guard let service else {
            surroundings.headers = answers.headers.filled(from: surroundings.headers)
            return
        }
        service.addNotes(to: &request)
        if var limits = service.configuration.limits {
            if !isWhole {
                // For streams and saves the idle limit applies, not their length.
                limits.total = surroundings.limits.value.total
                limits.maxBodyBytes = surroundings.limits.value.maxBodyBytes
            }
            surroundings.limits = KeptLimits(limits)
        }
        let isElsewhere = outsiders.contains(.service)
        if let only = service.configuration.replacingHeaders {
            request.headers = isElsewhere ? only.safeElsewhere : only
            surroundings.headers = [:]
            return
        }
        let fields = service.configuration.headers
        surroundings.headers = answers.headers.filled(from: isElsewhere ? fields.safeElsewhere : fields)
            .filled(from: surroundings.headers)
    }

    /// Returns the base of a relative URL: the request's own, otherwise the service's, otherwise the agent's; also for
    /// CDNs.
    func baseURL(of request: Request<Bytes>, of service: Service?) throws(NetError) -> String? {
        let serviceCDN = try service?.cdnURL()
        if request.usesCDN, let url = request.cdnURL.nonEmpty ?? serviceCDN ?? configuration.cdnURL.nonEmpty {
            return url
        }
        if let url = request.baseURL.nonEmpty {
            return url
        }
        // A service with base URLs needs one for each environment: that of another would be a wrong host.
        let isRelative = !request.content.hasAbsoluteURL
        return try service?.baseURL(isNeeded: isRelative) ?? configuration.baseURL
    }
}

/// The additions to a request.
private struct Surroundings {
    var base: URLBase
    var headers: Headers
    var limits: KeptLimits
    var parameters: Parameters?
}
