/// Records the events of a text as one line that a test can compare.
#ifndef NETXML_TEST_RECORDED_H
#define NETXML_TEST_RECORDED_H

#include <harness.h>
#include <netxml.h>

/// The events: "<name a=1>", "</name>", "text", "(!comment)", "(?target data)", "(doctype name public system)".
typedef struct recorded {
    nc_buf events;
    nc_xml_status status;
    nc_xml_error error;
} recorded;

/// Parses a text in two pieces, or in pieces of `step` bytes if that is not 0.
recorded record(nc_slice head, nc_slice tail, size_t step, const nc_xml_options *options);
/// Parses a text in one piece with the default options.
recorded record_text(const char *text);
void recorded_deinit(recorded *what);

/// Fails unless the text has these events and is well-formed.
void assert_events(const char *text, const char *expected);
/// Fails unless parsing ends with this status. Returns the position.
nc_xml_error assert_refused(const char *text, nc_xml_status status);

#endif
