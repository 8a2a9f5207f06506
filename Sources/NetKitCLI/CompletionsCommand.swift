/// `nk completions`: prints shell completions.
enum CompletionsCommand {
    static let help = """
        Usage: nk completions bash|zsh|fish

        Prints shell completions. To install them:

          bash   nk completions bash >~/.local/share/bash-completion/completions/nk
          zsh    nk completions zsh >DIR/_nk           DIR: a directory of $fpath
          fish   nk completions fish >~/.config/fish/completions/nk.fish

        """

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        if words.contains("-h") || words.contains("--help") {
            return help
        }
        guard words.count == 1, let shell = words.first, let text = Completions.text(for: shell) else {
            throw UsageError("completions needs a shell: bash, zsh or fish")
        }
        return text
    }
}

/// `nk manual`: prints the manual page nk(1).
enum ManualCommand {
    static let help = """
        Usage: nk manual

        Prints the manual page nk(1). To read it: nk manual | man -l -

        """

    static func run(_ words: ArraySlice<String>) throws(UsageError) -> String {
        if words.contains("-h") || words.contains("--help") {
            return help
        }
        if let word = words.first {
            throw UsageError("manual: unexpected argument '\(word)'")
        }
        return ManualPage.text
    }
}
