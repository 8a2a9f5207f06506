/// A validated form, and the state that its sender needs.
protocol KeptForm: AnyObject, Sendable {
    /// The parts and the boundary.
    var form: MultipartBody { get }
}
