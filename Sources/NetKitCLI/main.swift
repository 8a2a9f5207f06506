ProcessSetup.openStandardDescriptors()
Terminal.ignoreBrokenPipes()
// A second core initializes the libraries while this one reads the arguments.
Interrupt.watch(after: ProcessSetup.prepareLibraries)
MainThreadExecutor.run { await Command.run { () throws(UsageError) in try ProcessSetup.words() } }
