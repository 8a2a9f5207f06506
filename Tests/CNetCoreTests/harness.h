/// What every C test stands on: counted memory, failing memory and guarded inputs.
///
/// A case is declared with `harness_case(function)`: it fails when blocks of the library outlive it. Counters are
/// atomic, for a library that allocates on several threads.
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

/// Installs the counting allocator and allows descriptors; the first line of main, before any call into the library.
void harness_begin(void);

/// Raises the process's limit on descriptors as far as it may, to 20,000 at most.
void harness_allow_descriptors(void);

/// Counts libcurl's allocations in the same way (curl_global_init_mem), so that they can be made to fail too.
///
/// Called in main right after harness_begin(), before the first engine. Counted and failed, but not held against a
/// case when they live on: libcurl keeps what it likes.
void harness_use_curl_allocator(void);

/// Blocks of the library that are alive now.
size_t harness_live_blocks(void);

/// Allocations asked for since harness_begin(), libcurl's included when they are counted.
uint64_t harness_allocations(void);

/// Makes the `nth` allocation from now on fail, once; 0 fails none. Takes back an earlier order.
void harness_fail_allocation(uint64_t nth);

/// Tells whether the ordered failure has happened.
bool harness_has_failed_allocation(void);

/// Waits until at most `expected` blocks are alive (an engine that was released frees itself on its own thread).
///
/// Returns false when `timeout_ms` passed first.
bool harness_wait_for_live_blocks(size_t expected, uint32_t timeout_ms);

/// A scenario for each_allocation_failure(): it cleans up after itself and asserts what must hold although memory ran
/// out at an unknown place.
typedef void (*harness_scenario_fn)(void *ctx);

/// Runs a scenario with the 1st, 2nd, … allocation failing, until a run meets no failure; checks live blocks after
/// each run and prints how many points were reached. Returns that number.
uint64_t each_allocation_failure(harness_scenario_fn scenario, void *ctx);

/// The names of setup and teardown that harness_case() puts around a case.
int harness_case_begin(void **state);
/// Fails the case when more blocks live than at its start.
int harness_case_end(void **state);

/// A cmocka case that fails on a leak.
#define harness_case(function) cmocka_unit_test_setup_teardown(function, harness_case_begin, harness_case_end)

/* --- inputs --- */

/// A copy of bytes that ends right before a page that nobody may touch.
typedef struct guarded {
    /// The copy.
    nc_slice slice;
    /// The mapping underneath.
    void *mapping;
    /// Its length in bytes.
    size_t mapping_bytes;
} guarded;

/// Copies `bytes` so that reading one byte past the end is a crash; give it up with guarded_deinit().
guarded guarded_copy(nc_slice bytes);
/// Unmaps the copy.
void guarded_deinit(guarded *copy);

/// Receives one way of cutting a text in two.
typedef void (*harness_split_fn)(void *ctx, nc_slice head, nc_slice tail);

/// Calls `visit` for every way of cutting `bytes` in two (length + 1 of them), both halves guarded.
void each_split(nc_slice bytes, harness_split_fn visit, void *ctx);

/// Whether each byte is the one `period` places before it. One comparison: in a loop a sanitizer looks at every byte.
bool harness_repeats(nc_slice bytes, size_t period);

/// Whether these are `length` bytes of the loopback server's pattern: byte i is 'a' + i % 26.
bool harness_is_pattern(nc_slice bytes, size_t length);

/* --- assertions --- */

/// Fails unless a buffer or slice holds exactly this text; shows both.
#define assert_slice_equals(actual, expected) harness_assert_slice((actual), (expected), __FILE__, __LINE__)
/// What assert_slice_equals() calls.
void harness_assert_slice(nc_slice actual, const char *expected, const char *file, int line);

/// Fails unless two statuses are the same; shows their names.
#define assert_status(actual, expected) harness_assert_status((actual), (expected), __FILE__, __LINE__)
/// What assert_status() calls.
void harness_assert_status(nc_status actual, nc_status expected, const char *file, int line);

#endif
