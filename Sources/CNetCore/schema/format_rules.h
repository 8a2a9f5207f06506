/// The rules of formats that need more than a few lines. Texts are UTF-8. Pure; call from any thread.
#ifndef NETCORE_PRIVATE_SCHEMA_FORMAT_RULES_H
#define NETCORE_PRIVATE_SCHEMA_FORMAT_RULES_H

#include <netcore/bytes.h>

/* --- format_time.c: RFC 3339 --- */

bool nc_format_is_date(nc_slice text);
/// A time with an offset. Second 60 is valid only at 23:59 UTC.
bool nc_format_is_time(nc_slice text);
bool nc_format_is_date_time(nc_slice text);
/// A duration of RFC 3339, appendix A.
bool nc_format_is_duration(nc_slice text);

/* --- format_host.c --- */

/// A name of RFC 1123. Labels that begin with "xn--" must be valid A-labels (RFC 5891).
bool nc_format_is_hostname(nc_slice text);
/// A name whose labels may be U-labels (RFC 5890, 2.3.2.1).
bool nc_format_is_idn_hostname(nc_slice text);
/// Four decimal numbers without leading zeros (RFC 2673, 3.2).
bool nc_format_is_ipv4(nc_slice text);
/// An address of RFC 4291, 2.2, without a zone.
bool nc_format_is_ipv6(nc_slice text);
/// A mailbox of RFC 5321, 4.1.2.
bool nc_format_is_email(nc_slice text);
/// A mailbox of RFC 6531, 3.3.
bool nc_format_is_idn_email(nc_slice text);

/* --- format_uri.c: RFC 3986, RFC 3987 and RFC 6570 --- */

bool nc_format_is_uri(nc_slice text);
bool nc_format_is_uri_reference(nc_slice text);
bool nc_format_is_iri(nc_slice text);
bool nc_format_is_iri_reference(nc_slice text);
bool nc_format_is_uri_template(nc_slice text);

#endif
