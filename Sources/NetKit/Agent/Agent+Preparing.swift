/// The parameters and fields that closures of the app computed for one call.
private struct ComputedAdditions: Sendable {
    var parameters: Parameters?
    var headers = Headers()
    /// Whether the request's own ``Request/parameterSource`` was called.
    var hasOwnParameters = false
}

extension Agent.Configuration {
    /// Whether requests get more than a base URL and constant fields.
    var addsToRequests: Bool {
        parameters != nil || computedParameters != nil || computedHeaders != nil
    }
}

extension Agent {
    /// Returns the time limit of a whole call, from the limits of the request, its service or the agent.
    func budget(of request: Request<some Sendable>, _ kind: Call.Kind) -> TimeBudget {
        if request.limits.hasTotal {
            return TimeBudget(request.limits.total, timer: timer)
        }
        if !kind.isBounded || request.body?.isStreamed == true {
            return TimeBudget(configuration.streamLimits.total, timer: timer)
        }
        let limits = request.service?.configuration.limits.over(configuration.limits) ?? configuration.limits
        return TimeBudget(limits.total, timer: timer)
    }

    /// Returns the call with all additions of agent and service. Calls the closures that compute them.
    func prepared(_ call: Call) async throws(NetError) -> Call {
        guard addsToRequests || call.request.hasOptions else {
            var call = call
            try preparePlain(&call)
            return call
        }
        var call = call
        let own = try await ownParameters(of: call.request, within: call.budget)
        if let own {
            call.request.parameters = own
        }
        try call.request.mergeQuery()
        let destination = try destination(of: call.request)
        var computed = try await computedAdditions(to: call.request, at: destination, within: call.budget)
        computed.hasOwnParameters = own != nil
        return try adding(computed, to: call, at: destination)
    }

    /// Adds the agent's additions to a request that gets only a base URL and constant fields.
    func preparePlain(_ call: inout Call) throws(NetError) {
        let limits = call.kind.isBounded ? limits : streamLimits
        if let json = json(of: call.request) {
            call.request.content.optionalSettings.json = json
        }
        try call.request.mergeQuery()
        let original = call.request.storage
        call.request = try completed(call.request, limits: limits)
        call.origin = CallOrigin(
            original, others: nil,
            base: URLBase(url: configuration.baseURL, keepsPath: configuration.keepsBasePath),
            placedURL: call.request.url)
    }

    /// Returns the call with all additions of agent and service, without calling closures. Throws if a closure would
    /// have to be called.
    func preparedWithoutClosures(_ call: Call) throws(NetError) -> Call {
        let request = call.request
        let service = request.service?.configuration
        let computesParameters =
            request.parameterSource != nil || configuration.computedParameters != nil
            || service?.computedParameters != nil
        let needsClosures =
            configuration.computedHeaders != nil || service?.computedHeaders != nil
            || (computesParameters && !request.hasAppliedParameters)
        if needsClosures, !request.isComplete {
            throw NetError(
                .usage, "the request's parameters or headers are computed when it starts and are not known before")
        }
        return try adding(ComputedAdditions(), to: call, at: try destination(of: request))
    }

    // MARK: Closures that compute values

    /// Returns the parameters that the request's ``Request/parameterSource`` computes, or `nil` if it has no source.
    private func ownParameters(
        of request: Request<Bytes>, within budget: TimeBudget
    ) async throws(NetError) -> Parameters? {
        guard !request.isComplete, !request.hasAppliedParameters, let source = request.parameterSource else {
            return nil
        }
        do {
            return try await budget.run("computing the parameters") { try await source.compute(request) }
        } catch {
            throw Self.computationFailure(error)
        }
    }

    /// Calls the closures of agent and service that compute parameters and fields. A side that adds nothing to requests
    /// for this destination is skipped.
    private func computedAdditions(
        to request: Request<Bytes>, at destination: Destination, within budget: TimeBudget
    ) async throws(NetError) -> ComputedAdditions {
        var computed = ComputedAdditions()
        guard !request.isComplete else { return computed }
        let service = destination.withheldAdditions.contains(.service) ? nil : request.service?.configuration
        let agent = destination.withheldAdditions.contains(.agent) ? nil : configuration
        do {
            // The service's values override the agent's.
            for compute in [service?.computedParameters, agent?.computedParameters] where !request.hasAppliedParameters
            {
                guard let compute else { continue }
                let value = try await budget.run("computedParameters") { try await compute(request) }
                computed.parameters = computed.parameters?.filled(from: value) ?? value
                if let value, !value.hasFields {
                    throw NetError(.usage, "parameters that apply to every request must be an object with named values")
                }
            }
            for compute in [service?.computedHeaders, agent?.computedHeaders] {
                guard let compute else { continue }
                let value = try await budget.run("computedHeaders") { try await compute(request) }
                computed.headers = computed.headers.filled(from: value)
            }
            return computed
        } catch {
            throw Self.computationFailure(error)
        }
    }

    private static func computationFailure(_ error: any Error) -> NetError {
        NetError(wrapping: error, .badParameter, "computing the parameters or headers of the request failed")
    }

    // MARK: Additions

    private func adding(
        _ computed: ComputedAdditions, to call: Call, at destination: Destination
    ) throws(NetError) -> Call {
        var request = call.request
        if let json = request.isComplete ? request.jsonStorage : json(of: request) {
            request.content.optionalSettings.json = json
        }
        var additions = Additions(
            base: URLBase(url: destination.base, keepsPath: configuration.keepsBasePath),
            headers: destination.withheldAdditions.contains(.agent) ? crossOriginHeaders : defaultHeaders,
            limits: call.kind.isBounded ? limits : streamLimits)
        if request.isComplete {
            additions.headers = [:]
        } else {
            collectAdditions(
                &request, &additions, computed, destination.withheldAdditions, isWhole: call.kind.isBounded)
        }
        var content = try additions.base.placing(request.content, with: additions.parameters)
        var headers = request.headers.filled(from: additions.headers)
        if !request.isComplete {
            addSettings(of: request.service, to: &content, headers, destination.withheldAdditions)
            if request.service?.configuration.replacingHeaders == nil {
                addAccept(to: &headers, for: request)
            }
        }
        withhold(destination.withheldAdditions, from: &content)
        if !destination.withheldAdditions.contains(.agent) {
            addUnixSocket(to: &content)
        }
        addDefaults(to: &content, &headers, limits: additions.limits)
        var result = call
        result.request = Request<Bytes>(RequestStorage(content), headers: headers, decoding: .bytes)
        if additions.parameters != nil || computed.hasOwnParameters || request.hasAppliedParameters {
            result.request.markParametersApplied()
        }
        result.origin = CallOrigin(
            request.storage, others: additions.parameters, base: additions.base, placedURL: content.url)
        return result
    }

    /// Returns the statuses that a request accepts if it sets none: those of its service, or else the agent's. If its
    /// redirects are returned, 300 to 399 are accepted too.
    func automaticStatuses(_ redirects: RedirectPolicy, _ service: Service?) -> StatusSet {
        let statuses = (service?.configuration.acceptedStatuses ?? .automatic).resolved(configuration.acceptedStatuses)
        let outer = (service?.configuration.redirects ?? .inherited).over(configuration.redirects)
        return statuses.accepting(redirects.over(outer))
    }

    /// Adds the credentials, the trust policy, the redirect policy and the accepted statuses of the service and the
    /// agent, unless the request sets its own. Credentials and client certificates go only to the origins of the side
    /// that sets them.
    private func addSettings(
        of service: Service?, to content: inout RequestContent, _ headers: Headers, _ withheld: WithheldAdditions
    ) {
        if content.acceptedStatuses.isAutomatic {
            content.acceptedStatuses = automaticStatuses(content.redirects ?? .inherited, service)
        }
        if let service = service?.configuration {
            if content.redirects == nil, service.redirects != .inherited {
                content.redirects = service.redirects
            }
            if var trust = service.trust, content.optionalStorage?.value.trust == nil {
                if withheld.contains(.service) {
                    trust.identity = nil
                }
                content.optionalSettings.trust = trust
            }
            addCredentials(withheld.contains(.service) ? nil : service.credentials, to: &content, headers)
        }
        addCredentials(withheld.contains(.agent) ? nil : configuration.credentials, to: &content, headers)
    }

    /// Collects the additions to a request that has options, or whose agent adds more than constant fields.
    private func collectAdditions(
        _ request: inout Request<Bytes>, _ additions: inout Additions, _ computed: ComputedAdditions,
        _ withheldAdditions: WithheldAdditions, isWhole: Bool
    ) {
        let service = request.service
        if !request.hasAppliedParameters {
            let parameters = [
                computed.parameters, withheldAdditions.contains(.service) ? nil : service?.configuration.parameters,
                withheldAdditions.contains(.agent) ? nil : configuration.parameters,
            ]
            additions.parameters = parameters.compactMap { $0 }.reduce(nil) { $0?.filled(from: $1) ?? $1 }
            if request.isServerControlledURL {
                additions.parameters = additions.parameters?.without(namesIn: request.url)
            }
        }
        guard let service else {
            additions.headers = computed.headers.filled(from: additions.headers)
            return
        }
        service.addOptions(to: &request)
        if !service.configuration.limits.isEmpty {
            var limits = service.configuration.limits.over(additions.limits.value)
            if !isWhole {
                // The service's total time and size limits are for bodies in memory, not for streams and saves.
                limits.total = additions.limits.value.total
                limits.maxBodyBytes = additions.limits.value.maxBodyBytes
            }
            additions.limits = LimitsStorage(limits)
        }
        let isCrossOrigin = withheldAdditions.contains(.service)
        if let only = service.configuration.replacingHeaders {
            request.headers = isCrossOrigin ? only.safeCrossOrigin : only
            additions.headers = [:]
            return
        }
        let fields = service.configuration.headers
        additions.headers = computed.headers.filled(from: isCrossOrigin ? fields.safeCrossOrigin : fields)
            .filled(from: additions.headers)
    }

    /// Returns the base URL for a request: its own, otherwise the service's, otherwise the agent's.
    func baseURL(of request: Request<Bytes>, of service: Service?) throws(NetError) -> String? {
        if let url = request.baseURL.nonEmpty {
            return url
        }
        // If the service has base URLs, but none for the current environment, this throws. Another environment's base
        // URL would send the request to the wrong host.
        let isRelative = !request.content.hasAbsoluteURL
        return try service?.baseURL(isNeeded: isRelative) ?? configuration.baseURL
    }
}

/// The additions to a request.
private struct Additions {
    var base: URLBase
    var headers: Headers
    var limits: LimitsStorage
    var parameters: Parameters?
}
