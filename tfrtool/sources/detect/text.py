"""Text that stands where records should: pointers, error pages, JSON, tables."""

from __future__ import annotations

import codecs
import re

from tfrtool.sources.detect.match import FormatMatch, shown
from tfrtool.suggestion import Suggestion

_SAMPLE = 4 << 10
_LFS = re.compile(rb"version https://git-lfs\.github\.com/spec/v1\r?\n")
_LFS_OID = re.compile(rb"^oid sha256:([0-9a-f]{64})", re.MULTILINE)
_LFS_SIZE = re.compile(rb"^size ([0-9]{1,20})\r?$", re.MULTILINE)
_HTML = re.compile(r"<(!doctype\s+html|html|head|body|title|script|meta)\b", re.IGNORECASE)
_TITLE = re.compile(r"<title[^>]*>([^<]{1,200})", re.IGNORECASE)
_XML = re.compile(r"<(\?xml\b|Error>|ListBucketResult\b|[A-Za-z][\w:.-]*\s+xmlns\b)")
_CODE = re.compile(r"<Code>([^<]{1,100})</Code>")
_ERROR_MESSAGE = re.compile(r"<Message>([^<]{1,300})")
_AS_ROWS = (("to", "tfrecord"),)
_AGAIN = "a download saved this page instead of the data: check the address and the permissions, and fetch it again"


def sniff_text(head: bytes) -> FormatMatch | None:
    """Name the kind of text that `head` begins, or None when it is not text."""
    if _LFS.match(head):
        return _lfs_pointer(head)
    text = _decoded(head)
    if text is None:
        return None
    begin = text.lstrip()[:_SAMPLE]
    if _HTML.match(begin) or (begin.startswith("<!--") and _HTML.search(begin)):
        title = _TITLE.search(begin)
        named = f" with the title {shown(title[1].strip())}" if title else ""
        return FormatMatch("html", f"a web page (HTML){named}", _AGAIN)
    if _XML.match(begin):
        return _xml(begin)
    if begin.startswith(("{", "[")):
        found = _json(text, begin)
        if found is not None:
            return found
    if not _is_readable(text[:_SAMPLE]):
        return None
    hint = "give a TFRecord or OFRecord file: text is not read, and there is no way to make records of it"
    return FormatMatch("text", f"text that begins {shown(begin, 40)}", hint)


def _lfs_pointer(head: bytes) -> FormatMatch:
    oid, size = _LFS_OID.search(head), _LFS_SIZE.search(head)
    real = f" of {int(size[1])} bytes" if size else ""
    named = f" (sha256 {oid[1][:12].decode()}…)" if oid else ""
    message = f"a Git LFS pointer; the data itself, a file{real}{named}, was not fetched"
    return FormatMatch("git-lfs-pointer", message, "run `git lfs pull` in the repository, then try again")


def _xml(begin: str) -> FormatMatch:
    code, says = _CODE.search(begin), _ERROR_MESSAGE.search(begin)
    if code:
        more = f": {shown(says[1].strip(), 120)}" if says else ""
        said = f"an error document of an object store, code {shown(code[1])}{more}"
        return FormatMatch("xml", said, _AGAIN, refusal=True)
    return FormatMatch("xml", f"an XML document that begins {shown(begin, 40)}", _AGAIN)


def _json(text: str, begin: str) -> FormatMatch | None:
    import json

    line = begin.split("\n", 1)[0]
    for candidate in (text, line):
        try:
            value = json.loads(candidate)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "error" in value:
            said = f"an error message in JSON: {shown(json.dumps(value['error']), 120)}"
            return FormatMatch("json", said, _AGAIN, refusal=True)
        break
    else:
        if not re.match(r'\{\s*(["}]|$)|\[\s*([\[{"\]0-9tfn-]|$)', begin):
            return None
    hint = "give the record files themselves (a directory as input passes over the `.json` files beside them)"
    lines = Suggestion("convert", "FILE", _AS_ROWS, "make records of JSON Lines")
    if begin.startswith("["):
        lines = Suggestion("convert", "-", _AS_ROWS, "make records of an array of objects", first="jq -c '.[]' FILE")
    return FormatMatch("json", f"JSON text that begins {shown(begin, 40)}", hint, lines)


def _decoded(head: bytes) -> str | None:
    """`head` as text in UTF-8, or in UTF-16 with a byte order mark; None where it is neither."""
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding, sample = "utf-16", head
    else:
        encoding, sample = "utf-8-sig", head
        if b"\0" in head[:_SAMPLE]:
            return None
    try:  # an incremental decoder, since the last character may be cut
        return codecs.getincrementaldecoder(encoding)().decode(sample)
    except UnicodeDecodeError:
        return None


def _is_readable(text: str) -> bool:
    """Whether nearly all of a text can be read by people: binary numbers can be UTF-8 by chance."""
    odd = sum(not (c.isprintable() or c in "\t\n\r\f\ufeff\u2028\u2029\u200b") for c in text)
    return bool(text.strip()) and odd * 50 <= len(text)
