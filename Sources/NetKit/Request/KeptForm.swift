/// A form that was found fit to be sent, and whatever sends it needs to keep of it.
protocol KeptForm: AnyObject, Sendable {
    /// What it is made of, its boundary included.
    var form: MultipartBody { get }
}
