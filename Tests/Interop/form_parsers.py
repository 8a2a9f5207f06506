"""Reads forms with parsers of other projects, and prints each form whose parts they read differently.

usage: form_parsers.py email|werkzeug|multipart FILE

Each line of FILE is a JSON object: a description ("case"), the "type" and "body" of a request, and its "parts" (name,
value, and if present a filename and a type). All bytes are hexadecimal digits. Exits with 0 if the parser reads all
parts of all forms unchanged.

Quote, CR and LF in names are escaped (WHATWG HTML, multipart/form-data encoding algorithm). Some parsers decode that, some
leave it to the caller. So it is decoded here on both sides. Werkzeug also reads a backslash as an escape (RFC 9110, 5.6.4),
which WHATWG's encoding does not produce, and rejects heads that are not UTF-8. Such forms are skipped and counted.
"""

import json
import sys


def unescaped(name):
    return name.replace(b"%22", b'"').replace(b"%0D", b"\r").replace(b"%0A", b"\n")


def is_for_werkzeug(form):
    try:
        for part in form["parts"]:
            for key in ("name", "filename", "type"):
                text = bytes.fromhex(part.get(key, "")).decode("utf-8")
                if "\\" in text and key != "type":
                    return False
    except UnicodeDecodeError:
        return False
    return True


def by_email(content_type, body):
    import email
    from email.message import Message

    head = b"Content-Type: " + content_type + b"\r\nMIME-Version: 1.0\r\n\r\n"
    message = email.message_from_bytes(head + body)
    assert message.is_multipart(), "not a multipart message"
    assert not message.defects, message.defects

    def raw(text):
        return None if text is None else text.encode("utf-8", "surrogateescape")

    for part in message.get_payload():
        # Not part[...], which returns a Header object for non-ASCII text.
        fields = {name.lower(): value for name, value in part.raw_items()}
        disposition = dict(Message._get_params_preserve(_Holder(fields["content-disposition"]), [], "content-disposition"))
        payload = part.get_payload(decode=True)
        yield (
            raw(_unquoted(disposition["name"])),
            raw(_unquoted(disposition.get("filename"))),
            raw(fields.get("content-type")),
            payload,
        )


class _Holder:
    """The object in which Message looks up fields."""

    def __init__(self, value):
        self.value = value

    def get(self, name, missing=None):
        return self.value


def _unquoted(text):
    from email.utils import unquote

    return None if text is None else unquote(text)


def by_multipart(content_type, body):
    from multipart import MultipartSegment, PushMultipartParser, parse_options_header

    kind, options = parse_options_header(content_type.decode("latin-1"))
    assert kind == "multipart/form-data", kind
    with PushMultipartParser(options["boundary"], strict=True, header_charset="latin-1", max_segment_count=10000) as parser:
        segment, value = None, b""
        for event in parser.parse(body):
            if isinstance(event, MultipartSegment):
                segment, value = event, b""
            elif event:
                value += event
            else:
                names = [None if text is None else text.encode("latin-1") for text in (segment.name, segment.filename)]
                media_type = segment.header("Content-Type")
                yield names[0], names[1], None if media_type is None else media_type.encode("latin-1"), bytes(value)


def by_werkzeug(content_type, body):
    from werkzeug.http import parse_options_header
    from werkzeug.sansio.multipart import Data, Epilogue, Field, File, MultipartDecoder, NeedData

    kind, options = parse_options_header(content_type.decode("latin-1"))
    assert kind == "multipart/form-data", kind
    decoder = MultipartDecoder(options["boundary"].encode("latin-1"))
    decoder.receive_data(body)
    decoder.receive_data(None)
    part, value = None, b""
    while True:
        event = decoder.next_event()
        if isinstance(event, (Field, File)):
            part, value = event, b""
        elif isinstance(event, Data):
            value += event.data
            if not event.more_data:
                file_name = part.filename if isinstance(part, File) else None
                media_type = part.headers.get("Content-Type")
                yield (
                    part.name.encode("utf-8"),
                    None if file_name is None else file_name.encode("utf-8"),
                    None if media_type is None else media_type.encode("utf-8"),
                    value,
                )
        elif isinstance(event, (Epilogue, NeedData)):
            return


def expected_of(part):
    return tuple(None if key not in part else bytes.fromhex(part[key]) for key in ("name", "filename", "type", "value"))


def comparable(part):
    name, file_name, media_type, value = part
    return unescaped(name), None if file_name is None else unescaped(file_name), media_type, value


def main(parser, path):
    parse = {"email": by_email, "werkzeug": by_werkzeug, "multipart": by_multipart}[parser]
    forms = faults = parts = left_out = 0
    with open(path, encoding="ascii") as lines:
        for line in lines:
            form = json.loads(line)
            if parser == "werkzeug" and not is_for_werkzeug(form):
                left_out += 1
                continue
            expected = [comparable(expected_of(part)) for part in form["parts"]]
            try:
                found = [comparable(part) for part in parse(bytes.fromhex(form["type"]), bytes.fromhex(form["body"]))]
            except Exception as error:  # noqa: BLE001 - any failure of a parser is a finding
                found = repr(error)
            forms += 1
            parts += len(expected)
            if found != expected:
                faults += 1
                if faults <= 20:
                    print(f"{parser}: {form['case']}: {found} instead of {expected}"[:1000])
    print(f"{parser}: {forms} forms, {parts} parts, {faults} came back different, {left_out} left out")
    return 1 if faults or not forms else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
