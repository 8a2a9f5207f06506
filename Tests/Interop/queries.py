"""Reads each query of a file of cases by urllib.parse and by Werkzeug, as a query and as a form.

Each line has the word "text" or "bytes", the query, and its expected names and values, all in hexadecimal ("-" if empty).
Lines of "bytes" are decoded as Latin-1, which has a character for every byte. Werkzeug supports only UTF-8.
"""

import io
import sys
from urllib.parse import parse_qsl

from werkzeug.formparser import parse_form_data
from werkzeug.wrappers import Request


def unhex(word):
    return b"" if word == "-" else bytes.fromhex(word)


def readings(query, charset):
    text = query.decode("ascii")
    yield "urllib.parse", parse_qsl(text, keep_blank_values=True, encoding=charset, errors="strict")
    if charset != "utf-8":
        return
    request = Request({"REQUEST_METHOD": "GET", "QUERY_STRING": text, "wsgi.url_scheme": "http", "HTTP_HOST": "h"})
    yield "werkzeug args", list(request.args.items(multi=True))
    environ = {
        "REQUEST_METHOD": "POST",
        "CONTENT_TYPE": "application/x-www-form-urlencoded",
        "CONTENT_LENGTH": str(len(query)),
        "wsgi.input": io.BytesIO(query),
    }
    yield "werkzeug form", list(parse_form_data(environ)[1].items(multi=True))


def sorted_by_name(pairs):
    # Werkzeug preserves only the order of equal names.
    return sorted(pairs, key=lambda pair: pair[0])


def main(path):
    faults = 0
    count = 0
    with open(path, encoding="ascii") as lines:
        for line in lines:
            kind, *words = line.split()
            charset = "utf-8" if kind == "text" else "latin-1"
            query, *texts = [unhex(word) for word in words]
            texts = [text.decode(charset) for text in texts]
            expected = list(zip(texts[::2], texts[1::2]))
            for name, read in readings(query, charset):
                count += 1
                if sorted_by_name(read) != sorted_by_name(expected):
                    faults += 1
                    print(f"{name} reads {query!r} as {read!r}, not {expected!r}")
    print(f"{count} readings, {faults} faults")
    return 1 if faults or not count else 0


sys.exit(main(sys.argv[1]))
