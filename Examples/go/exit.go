package main

// #include <stdlib.h>
import "C"

// exit ends the process like a C program, so that functions registered with atexit() run. os.Exit skips them.
func exit(code int) { C.exit(C.int(code)) }
