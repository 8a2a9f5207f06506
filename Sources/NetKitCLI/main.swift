Terminal.ignoreBrokenPipes()
Terminal.end(await Command.run(Array(CommandLine.arguments.dropFirst())))
