StartUp.openStandardDescriptors()
Terminal.ignoreBrokenPipes()
Interrupt.watch()
Terminal.end(await Command.run { () throws(UsageError) in try StartUp.words() })
