#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Tells threads apart.
func currentThread() -> UInt {
    #if canImport(Glibc)
    pthread_self()
    #else
    unsafe UInt(bitPattern: pthread_self())
    #endif
}
