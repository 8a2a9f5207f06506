extension Int {
    /// Returns the sum of two counts from 0, at most the largest Int: a server may announce any lengths.
    package func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
