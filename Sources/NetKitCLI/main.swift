Terminal.ignoreBrokenPipes()
Interrupt.watch()
Terminal.end(await Command.run(Array(CommandLine.arguments.dropFirst())))
