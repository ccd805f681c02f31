"""Encoding and decoding errors."""
import codecs
import io
import sys

for raw, enc in [(b"caf\xe9", "utf-8"), (b"\xff\xfe", "ascii"), (b"\x80abc", "cp1252"), (b"\x81", "cp1252"), (b"\xed\xa0\x80", "utf-8"), (b"\xf0\x9f", "utf-8"), (b"a\x00b", "utf-16"), (b"+AG", "utf-7"), (b"x", "nope")]:
    try:
        print(raw, enc, ascii(raw.decode(enc)))
    except (UnicodeDecodeError, LookupError) as e:
        print(raw, enc, "->", type(e).__name__, e)
for text, enc in [("é", "ascii"), ("€", "latin-1"), ("\ud800", "utf-8"), ("日本", "cp437"), ("日本", "shift_jis"), ("한", "euc-kr"), ("ÿ", "koi8-r"), ("ß", "idna")]:
    try:
        print(ascii(text), enc, text.encode(enc))
    except UnicodeError as e:
        print(ascii(text), enc, "->", type(e).__name__, e)
s = b"caf\xe9 \xff ok"
for errors in ("replace", "ignore", "backslashreplace", "surrogateescape"):
    print(errors, ascii(s.decode("utf-8", errors)))
for errors in ("replace", "ignore", "xmlcharrefreplace", "backslashreplace", "namereplace"):
    print(errors, "naïve €".encode("ascii", errors))
codecs.register_error("stars", lambda e: ("*" * (e.end - e.start), e.end))
print("naïve €".encode("ascii", "stars"))
with open("latin.txt", "wb") as f:
    f.write("größe\n".encode("latin-1"))
print(ascii(open("latin.txt", encoding="latin-1").read()), ascii(open("latin.txt", errors="replace").read()))
bom = "x".encode("utf-8-sig")
print(bom, bom.decode("utf-8-sig"), ascii(bom.decode()), "x".encode("utf-16-le"), "x".encode("utf-32-be"))
dec = codecs.getincrementaldecoder("utf-8")()
print([dec.decode(bytes([b])) for b in "é☃".encode()], codecs.lookup("LATIN1").name, sys.stdout.encoding, sys.stdout.errors, sys.stderr.errors, sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())
print(io.TextIOWrapper(io.BytesIO(b"a\r\nb\rc\n")).readlines(), io.TextIOWrapper(io.BytesIO(b"a\r\nb"), newline="").readlines())
sys.stdout.buffer.write(b"raw bytes: \xff\xfe\n") if sys.stdout.flush() is None else None
print("escaped back:", b"\xfe\xff".decode("utf-8", "surrogateescape"))
print("cannot print \ud83d alone")
