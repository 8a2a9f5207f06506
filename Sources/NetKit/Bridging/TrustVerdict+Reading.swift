internal import CNetCore

extension TrustVerdict {
    init(_ verdict: UnsafePointer<nc_trust_verdict>) {
        let said = unsafe verdict.pointee
        func code(_ status: nc_status) -> NetError.Code? { status == .NC_OK ? nil : NetError.Code(status) }
        func pins(
            _ count: UInt32, _ pin: (UnsafePointer<nc_trust_verdict>, Int) -> UnsafePointer<CChar>
        ) -> [String] {
            (0..<Int(min(count, NC_VERDICT_MAX_PINS))).map { unsafe String(cString: pin(verdict, $0)) }
        }
        let chainPins = unsafe pins(said.chain_count, nc_verdict_chain_pin).filter { !$0.isEmpty }
        let policyPins = unsafe pins(said.pin_count, nc_verdict_pin).filter { !$0.isEmpty }
        let line = unsafe withUnsafeBytes(of: said.message) { unsafe String(nulTerminated: $0) }
        self.init(
            refusal: code(said.status), finding: code(said.finding), notes: Notes(rawValue: said.notes),
            isVerified: said.is_verified, chainPins: chainPins, policyPins: policyPins,
            message: said.finding == .NC_ERR_PIN_MISMATCH
                ? Self.whole(line, chainPins: chainPins, policyPins: policyPins) : line)
    }

    /// The core's message has room for few pins; here it lists all of them.
    private static func whole(_ line: String, chainPins: [String], policyPins: [String]) -> String {
        guard let cut = line.firstRange(of: " (the chain") else { return line }
        let chain = chainPins.joined(separator: ", ")
        return line[..<cut.lowerBound] + " (the chain has \(chain); the policy asks for "
            + policyPins.joined(separator: ", ") + ")"
    }
}

extension TrustEvent {
    init(_ event: UnsafePointer<nc_trust_event>) {
        let said = unsafe event.pointee
        let chain = unsafe UnsafeBufferPointer(start: said.chain, count: said.chain_count)
        self.init(
            host: unsafe said.host.text, port: Int(unsafe said.port), verdict: unsafe TrustVerdict(said.verdict),
            chain: unsafe chain.map { unsafe $0.copy }, unreported: Int(clamping: unsafe said.unreported))
    }
}

extension TrustObserver {
    /// The C value of the observer; the policy's release drops the reference.
    func cValue(allowsOverride: Bool) -> nc_trust_observer {
        unsafe nc_trust_observer(
            ctx: Unmanaged.passRetained(self).toOpaque(), report: report == nil ? nil : observerReport,
            decide: decide == nil ? nil : observerDecide, release: observerRelease, allows_override: allowsOverride)
    }
}

// SAFETY: include/netcore/trust_verdict.h: an event is borrowed for the call, and release is called once, last.

private func observerReport(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<nc_trust_event>) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TrustObserver>.fromOpaque(context).takeUnretainedValue().report?(TrustEvent(event))
}

private func observerDecide(_ context: UnsafeMutableRawPointer?, _ event: UnsafePointer<nc_trust_event>) -> Bool {
    guard let context = unsafe context else { return false }
    return unsafe Unmanaged<TrustObserver>.fromOpaque(context).takeUnretainedValue().decide?(TrustEvent(event)) ?? false
}

private func observerRelease(_ context: UnsafeMutableRawPointer?) {
    guard let context = unsafe context else { return }
    unsafe Unmanaged<TrustObserver>.fromOpaque(context).release()
}
