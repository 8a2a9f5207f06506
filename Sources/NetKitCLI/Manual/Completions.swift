/// Shell completions, generated from the tables of options and subcommands.
enum Completions {
    static func text(for shell: String) -> String? {
        switch shell {
        case "bash": bash
        case "zsh": zsh
        case "fish": fish
        default: nil
        }
    }

    private typealias Option = Subcommand.Option

    /// How a value is completed: with files, with directories, with a list of words, or not at all.
    private enum Values {
        case files, folders, nothing
        case words([String])

        init(_ name: String?) {
            guard let name else {
                self = .nothing
                return
            }
            let words = name.split(separator: "|").map(String.init)
            if name.contains("FILE") {
                self = .files
            } else if name.contains("DIR") {
                self = .folders
            } else if words.count > 1,
                words.allSatisfy({ $0.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "." } })
            {
                self = .words(words)
            } else {
                self = .nothing
            }
        }
    }

    /// The options and actions of each subcommand. The name is empty for nk without a subcommand.
    private static var lists: [(name: String, options: [Option], actions: [String])] {
        [("", Subcommand.fetchOptions, [])] + Subcommand.all.map { ($0.name, $0.options, $0.actions) }
    }

    // MARK: bash

    private static var bash: String {
        let rows = lists.map { list in
            let words = list.options.flatMap(\.spellings) + list.actions
            return "        \(list.name.isEmpty ? "*" : list.name)) words=\(quoted(words.joined(separator: " "))) ;;"
        }
        // The pattern "*" must come last, because the first match applies.
        let ordered = (Array(rows.dropFirst()) + rows.prefix(1)).joined(separator: "\n")
        var cases: [String] = []
        for list in Array(lists.dropFirst()) + lists.prefix(1) {
            for option in list.options where option.value != nil {
                let pattern = option.spellings.map { "\(list.name.isEmpty ? "*" : list.name):\($0)" }
                let reply =
                    switch Values(option.value) {
                    case .files: "compopt -o default; COMPREPLY=()"
                    case .folders: "compopt -o dirnames; COMPREPLY=()"
                    case .words(let words):
                        "COMPREPLY=($(compgen -W \(quoted(words.joined(separator: " "))) -- \"$word\"))"
                    case .nothing: "COMPREPLY=()"
                    }
                cases.append("        \(pattern.joined(separator: " | "))) \(reply); return ;;")
            }
        }
        return """
            # bash completion for nk, made by `nk completions bash`.
            _nk() {
                local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} first=${COMP_WORDS[1]} words
                [ "$COMP_CWORD" -gt 1 ] || first=
                case $first:$before in
            \(cases.joined(separator: "\n"))
                esac
                case $first in
            \(ordered)
                esac
                if [ "$COMP_CWORD" -eq 1 ]; then
                    words="$words \(Subcommand.all.map(\.name).joined(separator: " "))"
                fi
                COMPREPLY=($(compgen -W "$words" -- "$word"))
                if [ ${#COMPREPLY[@]} -eq 0 ] && [ "${word#-}" = "$word" ]; then
                    compopt -o default
                fi
            }
            complete -F _nk nk

            """
    }

    private static func quoted(_ text: String) -> String {
        "'" + text.replacing("'", with: #"'\''"#) + "'"
    }

    // MARK: zsh

    private static var zsh: String {
        let functions = lists.map { list in
            let rows = list.options.map { "        \(zshRow($0))" }
            let end =
                list.name.isEmpty
                ? "'*:URL:_urls'" : list.actions.isEmpty ? "'*:file:_files'" : zshActions(list.actions)
            let name = list.name.isEmpty ? "_nk_fetch" : "_nk_\(list.name)"
            return "\(name)() {\n    _arguments -s \\\n\((rows + ["        \(end)"]).joined(separator: " \\\n"))\n}"
        }
        let names = Subcommand.all.map { "        \(quoted("\($0.name):\($0.summary)"))" }.joined(separator: "\n")
        return """
            #compdef nk
            # zsh completion for nk, made by `nk completions zsh`.

            \(functions.joined(separator: "\n\n"))

            _nk() {
                local -a commands=(
            \(names)
                )
                if (( CURRENT > 2 )) && (( ${+functions[_nk_$words[2]]} )); then
                    local command=$words[2]
                    shift words
                    (( CURRENT-- ))
                    _nk_$command
                    return
                fi
                if (( CURRENT == 2 )) && [[ $words[2] != -* ]]; then
                    _describe command commands
                fi
                _nk_fetch
            }

            if [[ $funcstack[1] == _nk ]]; then
                _nk "$@"
            elif (( ${+functions[compdef]} )); then
                compdef _nk nk
            fi

            """
    }

    private static func zshActions(_ actions: [String]) -> String {
        "'1:action:(\(actions.joined(separator: " ")))' '*:file:_files'"
    }

    private static func zshRow(_ option: Option) -> String {
        var summary = option.summary.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
        summary = summary.replacing("[", with: "\\[").replacing("]", with: "\\]")
        var value = ""
        if let name = option.value {
            let shown = name.replacing(":", with: "\\:").replacing("'", with: "")
            let action =
                switch Values(name) {
                case .files: "_files"
                case .folders: "_files -/"
                case .words(let words): "(\(words.joined(separator: " ")))"
                case .nothing: " "
                }
            value = ":\(shown):\(action)"
        }
        let repeats = option.long == "help" ? "" : "*"
        return option.spellings.map { quoted("\(repeats)\($0)[\(summary)]\(value)") }.joined(separator: " ")
    }

    // MARK: fish

    private static var fish: String {
        let names = Subcommand.all.map(\.name).joined(separator: " ")
        var lines = [
            "# fish completion for nk, made by `nk completions fish`.",
            "complete -c nk -e",
        ]
        for command in Subcommand.all {
            lines.append(
                "complete -c nk -n __fish_use_subcommand -a \(command.name) -d \(fishQuoted(command.summary))")
        }
        for list in lists {
            let condition =
                list.name.isEmpty
                ? "not __fish_seen_subcommand_from \(names)" : "__fish_seen_subcommand_from \(list.name)"
            for option in list.options {
                var line = "complete -c nk -n \(fishQuoted(condition))"
                // An unquoted "#" begins a comment.
                let short = option.short.map { $0.isLetter || $0.isNumber ? String($0) : fishQuoted(String($0)) }
                line += (short.map { " -s \($0)" } ?? "") + " -l \(option.long)"
                switch (option.value, Values(option.value)) {
                case (nil, _): break
                case (_, .files): line += " -r -F"
                case (_, .folders): line += " -x -a '(__fish_complete_directories)'"
                case (_, .words(let words)): line += " -x -a \(fishQuoted(words.joined(separator: " ")))"
                case (_, .nothing): line += " -x"
                }
                lines.append(line + " -d \(fishQuoted(option.summary))")
            }
            for action in list.actions {
                lines.append("complete -c nk -n \(fishQuoted(condition)) -a \(action)")
            }
        }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func fishQuoted(_ text: String) -> String {
        "'" + text.replacing("\\", with: #"\\"#).replacing("'", with: #"\'"#) + "'"
    }
}
