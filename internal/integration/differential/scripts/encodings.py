import codecs, locale, sys

text = "Grüße, 日本, €5\n"
for name in ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-32-be", "cp1252", "latin-1", "shift_jis", "euc_jp", "gb18030", "koi8-r", "ascii", "cp437", "utf-7", "big5", "iso2022_jp"):
    try:
        with open("t.txt", "w", encoding=name, newline="") as f:
            f.write(text)
        data = open("t.txt", "rb").read()
        print(name, len(data), data.hex(), open("t.txt", encoding=name).read() == text)
    except UnicodeEncodeError as e:
        print(name, e.start, e.reason)
for errors in ("replace", "ignore", "backslashreplace", "xmlcharrefreplace", "namereplace"):
    print(errors, text.encode("ascii", errors))
for errors in ("replace", "ignore", "backslashreplace", "surrogateescape"):
    print(errors, ascii(b"a\xffb\xc3".decode("utf-8", errors)))
print(sys.getdefaultencoding(), sys.getfilesystemencoding(), sys.getfilesystemencodeerrors(), sys.stdout.encoding, sys.stderr.encoding, sys.stderr.errors)
print(locale.getpreferredencoding(False).lower().replace("-", ""), codecs.lookup("utf8").name, open("t.txt", "w").encoding.lower().replace("-", ""))
print(codecs.encode("Hello", "rot13"), codecs.decode(b"SGk=", "base64"), codecs.BOM_UTF8)
try:
    b"\xff".decode()
except UnicodeDecodeError as e:
    print(e)
