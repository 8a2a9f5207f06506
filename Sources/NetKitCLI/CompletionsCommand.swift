/// `nk completions`: prints shell completions.
enum CompletionsCommand {
    static let help = """
        Usage: nk completions bash|zsh|fish

        Prints completions for a shell, made of the tables by which nk reads its words:

          bash   nk completions bash >~/.local/share/bash-completion/completions/nk
          zsh    nk completions zsh >FOLDER/_nk        a folder of $fpath
          fish   nk completions fish >~/.config/fish/completions/nk.fish

        """

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        if words.contains("-h") || words.contains("--help") {
            return help
        }
        guard words.count == 1, let shell = words.first, let text = Completions.text(for: shell) else {
            throw UsageError("completions takes bash, zsh or fish")
        }
        return text
    }
}

/// `nk manual`: prints the manual page nk(1).
enum ManualCommand {
    static let help = """
        Usage: nk manual

        Prints the manual page nk(1): nk manual | man -l -

        """

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        if words.contains("-h") || words.contains("--help") {
            return help
        }
        if let word = words.first {
            throw UsageError("manual takes no '\(word)'")
        }
        return ManualPage.text
    }
}
