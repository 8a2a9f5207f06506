/// Threat B6: heads with an ambiguous end of the body, and malformed responses.
///
/// One table: the exact bytes of the server, the expected end of the transfer, and the section of RFC 9112 (or 9110).
/// All rows are requested concurrently.
#include "threat.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OK "HTTP/1.1 200 OK\r\n"
#define CHUNKED OK "Transfer-Encoding: chunked\r\n\r\n"
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/// One row; `body` applies if the status is NC_OK.
typedef struct row {
    const char *reply;
    size_t reply_bytes; // 0: up to its NUL
    nc_status status;
    unsigned code;
    const char *body;
    const char *method;
} row;

#define BAD(text)                                                                                                      \
    { (text), sizeof(text) - 1, NC_ERR_BAD_RESPONSE, 0, "", "GET" }
#define GOOD(text, content)                                                                                            \
    { (text), sizeof(text) - 1, NC_OK, 200, (content), "GET" }
/// Rejected, unless libcurl unfolds lines before it delivers them (RFC 9112, section 5.2: a fold is a space), as it
/// does since 8.18.
#define FOLD(text)                                                                                                     \
    { (text), sizeof(text) - 1, NC_ERR_BAD_RESPONSE, 200, "hi", "GET" }
#define ENDS(text, status)                                                                                             \
    { (text), sizeof(text) - 1, (status), 0, "", "GET" }

static const row lengths[] = {
    // 9112, 6.3, rule 5: without Transfer-Encoding, lengths that differ are an unrecoverable error.
    BAD(OK "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi!"),
    BAD(OK "Content-Length: 3\r\nContent-Length: 2\r\n\r\nhi!"),
    BAD(OK "Content-Length: 42,30\r\n\r\nhi"),
    BAD(OK "Content-Length: 2, 3\r\n\r\nhi!"),
    BAD(OK "Content-Length: 2\r\nContent-Length: 2, 3\r\n\r\nhi!"),
    // Equal values may be repeated (RFC 9110, section 8.6).
    GOOD(OK "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "Content-Length: 2, 2\r\n\r\nhi", "hi"),
    GOOD(OK "Content-Length: 2,2 ,\t2\r\n\r\nhi", "hi"),
    GOOD(OK "Content-Length:2\r\n\r\nhi", "hi"),
    GOOD(OK "Content-Length: \t 2 \t\r\n\r\nhi", "hi"),
    GOOD(OK "content-length: 0002\r\n\r\nhi", "hi"),
    // RFC 9110, section 8.6: only digits.
    BAD(OK "Content-Length:\r\n\r\nhi"),
    BAD(OK "Content-Length: \r\n\r\n"),
    BAD(OK "Content-Length: ,\r\n\r\nhi"),
    BAD(OK "Content-Length: 2,\r\n\r\nhi"),
    BAD(OK "Content-Length: ,2\r\n\r\nhi"),
    BAD(OK "Content-Length: -2\r\n\r\nhi"),
    BAD(OK "Content-Length: +2\r\n\r\nhi"),
    BAD(OK "Content-Length: 0x2\r\n\r\nhi"),
    BAD(OK "Content-Length: 2h\r\n\r\nhi"),
    BAD(OK "Content-Length: 1 2\r\n\r\nhi"),
    BAD(OK "Content-Length: 2 2\r\n\r\nhi"),
    BAD(OK "Content-Length: 2.0\r\n\r\nhi"),
    BAD(OK "Content-Length: 2;x\r\n\r\nhi"),
    BAD(OK "Content-Length: \"2\"\r\n\r\nhi"),
    BAD(OK "Content-Length: two\r\n\r\nhi"),
    BAD(OK "Content-Length: \xd9\xa2\r\n\r\nhi"),
    BAD(OK "Content-Length: 2\r\n 3\r\n\r\nhi"),
    FOLD(OK "Content-Length:\r\n 2\r\n\r\nhi"),
    // 8.6: a recipient expects large numbers; what overflows is a length that is too large.
    ENDS(OK "Content-Length: 9223372036854775807\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 9223372036854775808\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 18446744073709551615\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 18446744073709551616\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 18446744073709551618\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 99999999999999999999999999999999999999\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 18446744073709551618\r\nContent-Encoding: gzip\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    BAD(OK "Content-Length: 99999999999999999999999999999999999999x\r\n\r\nhi"),
    BAD(OK "Content-Length: 18446744073709551618\r\nContent-Length: 2\r\n\r\nhi"),
    ENDS(OK "Content-Length: 922337203685477580\r\n\r\nhi", NC_ERR_BODY_TOO_LARGE),
    ENDS(OK "Content-Length: 3\r\n\r\nhi", NC_ERR_CUT_SHORT),
    // Bytes after the body are not part of it (RFC 9112, section 6.3, rule 6).
    GOOD(OK "Content-Length: 2\r\n\r\nhi!", "hi"),
};

static const row codings[] = {
    // 9112, 6.1 and 6.3, rule 3: both together are used for response smuggling.
    BAD(OK "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n0\r\n\r\n"),
    // 9112, 6.3, rule 4, and 7: chunked once and last, and no unknown coding.
    BAD(OK "Transfer-Encoding: chunked, gzip\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: gzip\r\n\r\nhi"),
    BAD(OK "Transfer-Encoding: chunked, chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: xchunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: chunked;q=1\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: \"chunked\"\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: ch unked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: \x0b"
           "chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding:\r\n\r\nhi"),
    BAD(OK "Transfer-Encoding: ,\r\n\r\nhi"),
    FOLD(OK "Transfer-Encoding:\r\n chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer-Encoding: chunked\r\n , gzip\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    // 9112, 6.1: a response of HTTP/1.0 cannot be chunked.
    BAD("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    // 9112, 6.1: nor one without content.
    GOOD(OK "Transfer-Encoding: ChUnKeD\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi"),
    GOOD(OK "Transfer-Encoding: \t chunked \t\r\n\r\n2\r\nhi\r\n0\r\n\r\n", "hi"),
};

static const row chunks[] = {
    // 9112, 7.1: a size is one or more hexadecimal digits.
    BAD(CHUNKED "\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED ";x\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "-2\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "+2\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED " 2\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "0x2\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "g\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi!\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi0\r\n\r\n"),
    // Every line ends with CR LF only.
    BAD(CHUNKED "3\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi\n0\r\n\r\n"),
    BAD(CHUNKED "2\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\r\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi\r0\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi\r\n0\n\n"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\n\n"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\nX: y\n\r\n"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\nX: y\rZ: z\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\n\rX"),
    BAD(CHUNKED "2;x\n;y\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2;x\r;y\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2;\0\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2,\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2 2\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\x0b\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi\r\n\r\n0\r\n\r\n"),
    // A recipient must handle overflow.
    BAD(CHUNKED "8000000000000000\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "ffffffffffffffff\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "fffffffffffffffe\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "10000000000000002\r\nhi\r\n0\r\n\r\n"),
    BAD(CHUNKED "00000000000000000000000000000000000002\r\nhi\r\n0\r\n\r\n"),
    ENDS(CHUNKED "7fffffffffffffff\r\nhi\r\n0\r\n\r\n", NC_ERR_CUT_SHORT),
    ENDS(CHUNKED "2\r\nhi\r\n", NC_ERR_CUT_SHORT),
    ENDS(CHUNKED "2\r\nhi\r\n0\r\n", NC_ERR_CUT_SHORT),
    ENDS(CHUNKED "2\r\nhi\r\n0\r\nX: y\r\n", NC_ERR_CUT_SHORT),
    ENDS(CHUNKED "2\r\nhi\r\n0\r\n\r", NC_ERR_CUT_SHORT),
    GOOD(CHUNKED "0002\r\nhi\r\n0\r\n\r\n", "hi"),
    GOOD(CHUNKED "A\r\n0123456789\r\na\r\n0123456789\r\n000\r\n\r\n", "01234567890123456789"),
    // 7.1.1: unknown extensions are ignored.
    GOOD(CHUNKED "2;a=b;c=\"d\"\r\nhi\r\n0;x\r\n\r\n", "hi"),
    GOOD(CHUNKED "2 ; a = b \r\nhi\r\n0\t\r\n\r\n", "hi"),
    // 7.1.2: a trailer field is a field.
    GOOD(CHUNKED "2\r\nhi\r\n0\r\nX-Sum: 1\r\nContent-Length: 99\r\nTransfer-Encoding: x\r\n\r\n", "hi"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\nno colon\r\n\r\n"),
    GOOD(CHUNKED "2\r\nhi\r\n0\r\nspace before : colon\r\n\r\n", "hi"),
    GOOD(CHUNKED "2\r\nhi\r\n0\r\n: no name\r\n\r\n", "hi"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\nContent-Length : 2\r\n\r\n"),
    BAD(CHUNKED "2\r\nhi\r\n0\r\nX A: b\r\n c\r\n\r\n"),
    // Bytes after the last chunk are not part of the body.
    GOOD(CHUNKED "2\r\nhi\r\n0\r\n\r\n2\r\nho\r\n0\r\n\r\n", "hi"),
};

static const row heads[] = {
    // 9112, 2.2: a lone LF may end a line; other CRs, and NUL, may not be in one (9110, 5.5).
    GOOD("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", "hi"),
    BAD(OK "X-A: a\rb\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "X-A: a\rContent-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "X-A: a\0b\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "X\0A: b\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 200 O\0K\r\nContent-Length: 2\r\n\r\nhi"),
    // 5.1: a name is a token, and a colon follows immediately. Other lines are dropped...
    BAD(OK "no colon\r\nContent-Length: 2\r\n\r\nhi"),
    GOOD(OK ": no name\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "::\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "X A: b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "X-A : b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "Content-Type\t: b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "X(A): b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "X\x01: b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "X\xc3\xa9: b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "X\xe9: b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK
         "\xd0\x97\xd0\xb0\xd0\xb3\xd0\xbe\xd0\xbb\xd0\xbe\xd0\xb2\xd0\xbe\xd0\xba: b\r\nContent-Length: 2\r\n\r\nhi",
         "hi"),
    GOOD(OK "\"X\": b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD(OK "PHP Warning: odd in /a/b.php on line 0\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD("HTTP/1.1 100 Continue\r\nX A: b\r\n\r\n" OK "Content-Length: 2\r\n\r\nhi", "hi"),
    // ... unless another parser could find the end of the body in them.
    BAD(OK "Content-Length : 2\r\n\r\nhi"),
    BAD(OK "Content-Length\t: 2\r\n\r\nhi"),
    BAD(OK "Content-Length\x0b: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "\x01"
           "Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "Content Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "X Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "\"content-length\": 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK ":Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK ": : Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "Content-Length\xc2\xa0: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "C\xd0\xbentent-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "\xef\xbc\xa3ontent-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "Tran\xc5\xbf"
           "fer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "Transfer-Encoding : chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"),
    BAD(OK "Transfer Encoding: chunked\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "[Transfer-Encoding]: chunked\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "Content-Encoding : gzip\r\nContent-Length: 2\r\n\r\nhi"),
    FOLD(OK "X A: b\r\n Content-Length: 9\r\nContent-Length: 2\r\n\r\nhi"),
    FOLD(OK "X-A: a\r\nX A: b\r\n c\r\nContent-Length: 2\r\n\r\nhi"),
    // 5.2: a fold is a space in an ordinary field.
    GOOD(OK "X-A: a\r\n b\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    BAD(OK " X-A: a\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(OK "\tContent-Length: 2\r\n\r\nhi"),
    // 4: the status line.
    BAD("SSH-2.0-x\r\n\r\n"),
    BAD("ICY 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/9.9 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/2 200\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/3 200\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.10 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/0.9 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/11 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("http/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD(" HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1  200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1\t200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 200\tOK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 200\t\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 200\x0bOK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 2 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 000 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 099 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 99 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 1000 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 200OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 -200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 2x0 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("<html>no head at all</html>"),
    BAD("\0\0\0\0\0\0\0\0\r\n\r\n"),
    BAD("\x16\x03\x03\0\x7a\x02\0\0\r\n\r\n"),
    GOOD("HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD("HTTP/1.1 200 \r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD("HTTP/1.1 200 a\tb \x80\xff\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    GOOD("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", "hi"),
    {"HTTP/1.1 999 Odd\r\nContent-Length: 2\r\n\r\nhi", 0, NC_OK, 999, "hi", "GET"},
};

static const row bodiless[] = {
    // Section 6.3, rule 1: these responses have no body, regardless of their fields.
    {"HTTP/1.1 204 No\r\nContent-Length: 2\r\n\r\nhi", 0, NC_OK, 204, "", "GET"},
    {"HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", 0, NC_OK, 204, "", "GET"},
    {"HTTP/1.1 204 No\r\n\r\nhi", 0, NC_OK, 204, "", "GET"},
    {"HTTP/1.1 304 Same\r\nContent-Length: 2\r\n\r\nhi", 0, NC_OK, 304, "", "GET"},
    {"HTTP/1.1 304 Same\r\n\r\nhi", 0, NC_OK, 304, "", "GET"},
    {OK "Content-Length: 2\r\n\r\nhi", 0, NC_OK, 200, "", "HEAD"},
    {OK "Content-Length: 99999999999\r\n\r\n", 0, NC_OK, 200, "", "HEAD"},
    {CHUNKED "2\r\nhi\r\n0\r\n\r\n", 0, NC_OK, 200, "", "HEAD"},
    {OK "\r\nhi", 0, NC_OK, 200, "", "HEAD"},
    {OK "Content-Length: 2\r\nContent-Length: 3\r\n\r\n", 0, NC_ERR_BAD_RESPONSE, 0, "", "HEAD"},
    // 9110, 15.2: interim heads come before the final one, and have no content.
    GOOD("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n" OK "Content-Length: 2\r\n\r\nhi", "hi"),
    ENDS("HTTP/1.1 100 Continue\r\n\r\n", NC_ERR_EMPTY_REPLY),
    BAD("HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nhi" OK "Content-Length: 2\r\n\r\nho"),
    BAD("HTTP/1.1 100 Continue\r\n\r\nnot HTTP\r\n\r\n"),
    // RFC 9110, sections 15.2.2 and 7.8: the request has no Upgrade.
    BAD("HTTP/1.1 101 Switching\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\nhi"),
    BAD("HTTP/1.1 101 Switching\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    BAD("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 101 Switching\r\nUpgrade: h2c\r\n\r\nhi"),
};

/* --- the table --- */

static bool is_right(const row *one, const threat_transfer *transfer) {
    bool is_unfolded = one->status == NC_ERR_BAD_RESPONSE && one->code != 0 &&
                       curl_version_info(CURLVERSION_NOW)->version_num >= 0x081200;
    nc_status status = is_unfolded ? NC_OK : one->status;
    if (transfer->error.status != status) {
        return false;
    }
    nc_slice body = nc_response_body(transfer->response);
    return status != NC_OK ||
           (nc_response_status(transfer->response) == one->code && nc_slice_is_equal(body, nc_slice_of(one->body)));
}

static void show(size_t index, const row *one, const threat_transfer *transfer) {
    nc_slice body = nc_response_body(transfer->response);
    size_t length = one->reply_bytes != 0 ? one->reply_bytes : strlen(one->reply);
    print_error("row %zu is %s (%s), status %u, \"%.*s\" instead of %s:\n    ", index,
                nc_status_name(transfer->error.status), transfer->error.message, nc_response_status(transfer->response),
                (int)body.length, body.length > 0 ? (const char *)body.data : "", nc_status_name(one->status));
    for (size_t i = 0; i < length && i < 90; i++) {
        uint8_t byte = (uint8_t)one->reply[i];
        print_error(byte >= ' ' && byte < 0x7f ? "%c" : "\\x%02x", byte);
    }
    print_error("\n");
}

/// Requests all rows concurrently.
static void expect_rows(const row *rows, size_t count) {
    fixture f;
    char path[32];
    size_t wrong = 0;
    threat_transfer *transfers = calloc(count, sizeof *transfers);
    assert_non_null(transfers);
    fixture_start_with(&f, NULL, &(nc_engine_options){.max_per_host = 32});
    threat_batch batch = THREAT_BATCH_INIT(f.engine);
    for (size_t i = 0; i < count; i++) {
        size_t length = rows[i].reply_bytes != 0 ? rows[i].reply_bytes : strlen(rows[i].reply);
        (void)snprintf(path, sizeof path, "/%zu", i);
        fixture_script(
            &f, path,
            (nct_reply){.is_raw = true, .body = rows[i].reply, .body_length = length, .ending = NCT_HALF_CLOSE});
        nc_request request = fixture_request(&f, path);
        request.method = nc_slice_of(rows[i].method);
        assert_status(threat_submit(&batch, &request, &transfers[i]), NC_OK);
    }
    threat_await(&batch, 0);
    for (size_t i = 0; i < count; i++) {
        if (!is_right(&rows[i], &transfers[i])) {
            show(i, &rows[i], &transfers[i]);
            wrong++;
        }
    }
    // The server saw each request, so no surplus bytes were used as another request's response.
    assert_int_equal(nct_server_request_count(f.server), count);
    print_message("%zu rows\n", count);
    threat_release(transfers, count);
    free(transfers);
    fixture_stop(&f);
    assert_int_equal(wrong, 0);
}

static void framing__ambiguous_lengths_are_rejected(void **state) {
    (void)state;
    expect_rows(lengths, COUNT_OF(lengths));
}

static void framing__ambiguous_transfer_codings_are_rejected(void **state) {
    (void)state;
    expect_rows(codings, COUNT_OF(codings));
}

static void framing__ambiguous_chunks_are_rejected(void **state) {
    (void)state;
    expect_rows(chunks, COUNT_OF(chunks));
}

static void framing__ambiguous_heads_are_rejected(void **state) {
    (void)state;
    expect_rows(heads, COUNT_OF(heads));
}

static void framing__responses_without_a_body_ignore_their_framing_fields(void **state) {
    (void)state;
    expect_rows(bodiless, COUNT_OF(bodiless));
}

int main(void) {
    harness_begin();
    const struct CMUnitTest cases[] = {
        harness_case(framing__ambiguous_lengths_are_rejected),
        harness_case(framing__ambiguous_transfer_codings_are_rejected),
        harness_case(framing__ambiguous_chunks_are_rejected),
        harness_case(framing__ambiguous_heads_are_rejected),
        harness_case(framing__responses_without_a_body_ignore_their_framing_fields),
    };
    return cmocka_run_group_tests(cases, NULL, NULL);
}
