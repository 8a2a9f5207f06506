/// Shared by every C test: counted allocations, failing allocations and guarded inputs.
///
/// `harness_case(function)` declares a case that fails if blocks of the library outlive it. Counters are atomic,
/// because the library allocates on several threads.
///
///     int main(void) {
///         harness_begin();
///         const struct CMUnitTest cases[] = {harness_case(buf__keeps_its_first_failure)};
///         return cmocka_run_group_tests(cases, NULL, NULL);
///     }
#ifndef NETCORE_TEST_HARNESS_H
#define NETCORE_TEST_HARNESS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <netcore.h>

/* --- memory --- */

/// Installs the counting allocator and raises the limit of descriptors. The first line of main, before any call of
/// the library.
void harness_begin(void);

/// Returns the counting allocator, for a library that has its own hook.
const nc_allocator *harness_allocator(void);

/// Raises the process's limit of descriptors to the allowed maximum, or to 20,000 if that is lower.
void harness_allow_descriptors(void);

/// Counts libcurl's allocations in the same way (curl_global_init_mem), so that they can fail too.
///
/// Called in main directly after harness_begin(), before the first engine. A case does not fail if libcurl's blocks
/// outlive it, because libcurl caches some.
void harness_use_curl_allocator(void);

/// Returns the number of the library's live blocks.
size_t harness_live_blocks(void);

/// Returns the number of allocations since harness_begin(). Includes libcurl's if they are counted.
uint64_t harness_allocations(void);

/// Makes the `nth` allocation from now on fail once, and replaces an earlier setting; 0 means none.
void harness_fail_allocation(uint64_t nth);

/// Returns true if the requested failure has happened.
bool harness_has_failed_allocation(void);

/// Waits until at most `expected` blocks are live: a released engine frees itself on its own thread.
///
/// Returns false after `timeout_ms`.
bool harness_wait_for_live_blocks(size_t expected, uint32_t timeout_ms);

/// A scenario for each_allocation_failure(). It cleans up after itself, and asserts what must hold although an
/// allocation failed at an unknown point.
typedef void (*harness_scenario_fn)(void *ctx);

/// Runs a scenario with the 1st, 2nd, … allocation failing, until a run completes without a failure. Checks live
/// blocks after each run. Prints and returns the number of allocations that failed.
uint64_t each_allocation_failure(harness_scenario_fn scenario, void *ctx);

/// The setup function of harness_case().
int harness_case_begin(void **state);
/// The teardown function of harness_case(). Fails the case if more blocks are live than at its start.
int harness_case_end(void **state);

/// A cmocka case that fails on a leak.
#define harness_case(function) cmocka_unit_test_setup_teardown(function, harness_case_begin, harness_case_end)

/* --- inputs --- */

/// A copy of bytes that ends directly before an inaccessible page.
typedef struct guarded {
    nc_slice slice;
    /// The mapping that contains the copy.
    void *mapping;
    /// The mapping's length in bytes.
    size_t mapping_bytes;
} guarded;

/// Copies `bytes` so that a read past the end crashes. Free the copy with guarded_deinit().
guarded guarded_copy(nc_slice bytes);
/// Unmaps the copy.
void guarded_deinit(guarded *copy);

/// Receives the two halves of a text.
typedef void (*harness_split_fn)(void *ctx, nc_slice head, nc_slice tail);

/// Calls `visit` for each of the length + 1 ways to split `bytes` in two. Both halves are guarded.
void each_split(nc_slice bytes, harness_split_fn visit, void *ctx);

/// Returns true if each byte equals the byte `period` bytes before it. Uses one comparison, because a sanitizer makes
/// loops slow.
bool harness_repeats(nc_slice bytes, size_t period);

/// Returns true if these are `length` bytes of the loopback server's pattern: byte i is 'a' + i % 26.
bool harness_is_pattern(nc_slice bytes, size_t length);

/* --- assertions --- */

/// Fails unless a buffer or slice has exactly this text, and prints both.
#define assert_slice_equals(actual, expected) harness_assert_slice((actual), (expected), __FILE__, __LINE__)
/// Implements assert_slice_equals().
void harness_assert_slice(nc_slice actual, const char *expected, const char *file, int line);

/// Fails unless two statuses are equal, and prints their names.
#define assert_status(actual, expected) harness_assert_status((actual), (expected), __FILE__, __LINE__)
/// Implements assert_status().
void harness_assert_status(nc_status actual, nc_status expected, const char *file, int line);

#endif
