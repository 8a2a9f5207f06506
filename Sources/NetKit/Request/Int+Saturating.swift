extension Int {
    /// The sum of two counts from 0, or the largest number: a server may announce any length, and several together.
    package func addingSaturated(_ other: Int) -> Int {
        let (sum, isTooLarge) = addingReportingOverflow(other)
        return isTooLarge ? .max : sum
    }
}
