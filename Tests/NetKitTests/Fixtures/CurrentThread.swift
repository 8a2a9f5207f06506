#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Returns an identifier of the current thread.
func currentThread() -> UInt {
    #if canImport(Glibc)
    pthread_self()
    #else
    unsafe UInt(bitPattern: pthread_self())
    #endif
}
