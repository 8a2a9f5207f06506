/// Finds the word that a user probably meant.
enum Suggestion {
    /// Returns the candidate that is nearest to the word, or `nil` if none is near: at most one change in a word of up
    /// to four letters, and two in a longer one.
    static func nearest(to word: some StringProtocol, in candidates: [String]) -> String? {
        let word = Array(word.lowercased())
        let limit = word.count <= 4 ? 1 : 2
        return candidates.map { (candidate: $0, distance: distance(word, Array($0.lowercased()))) }
            .filter { $0.distance <= limit && $0.distance < word.count }.min { $0.distance < $1.distance }?.candidate
    }

    /// Returns the text that is added to an error message, such as "; did you mean --retry?", or an empty text.
    static func advice(for word: some StringProtocol, in candidates: [String], prefix: String = "") -> String {
        nearest(to: word, in: candidates).map { "; did you mean \(prefix)\($0)?" } ?? ""
    }

    /// Returns the number of insertions, deletions, replacements and swaps of neighbours that turn one word into the
    /// other (optimal string alignment).
    private static func distance(_ from: [Character], _ to: [Character]) -> Int {
        var rows = [Array(0...to.count)]
        for (index, character) in from.enumerated() {
            let above = rows[index]
            var row = [index + 1]
            for (column, other) in to.enumerated() {
                var best = min(row[column], above[column + 1]) + 1
                best = min(best, above[column] + (character == other ? 0 : 1))
                if index > 0, column > 0, character == to[column - 1], from[index - 1] == other {
                    best = min(best, rows[index - 1][column - 1] + 1)
                }
                row.append(best)
            }
            rows.append(row)
        }
        return rows[from.count][to.count]
    }
}
