internal import CNetCore

extension String {
    /// Returns true if it is in the core's list of the names of secrets (`netcore/secret_name.h`).
    func isUsualSecret(in place: SecretPlace) -> Bool {
        unsafe withSlice { unsafe nc_secret_name_matches($0, place.cValue) }
    }
}

extension SecretPlace {
    fileprivate var cValue: nc_secret_place {
        switch self {
        case .field: .NC_SECRET_FIELD
        case .parameter: .NC_SECRET_PARAMETER
        case .member: .NC_SECRET_MEMBER
        case .cookie: .NC_SECRET_COOKIE
        }
    }
}
