"""Unicode: names, categories, normalisation, width, case, graphemes, sorting."""
import unicodedata
import locale
import sys

samples = ["A", "é", "ß", "Ω", "я", "中", "あ", "한", "ع", "🐍", "👩‍🚀", "½", "①", "\u200b", "\n", "𝄞"]
print(f"{'chr':<6}{'cp':<10}{'cat':<5}{'w':<3}{'name'}")
for s in samples:
    c = s[0]
    shown = c if c.isprintable() else ascii(c)[1:-1]
    print(f"{shown:<6}U+{ord(c):05X}   {unicodedata.category(c):<5}{unicodedata.east_asian_width(c):<3}{unicodedata.name(c, '<none>')}")
print([len(s) for s in samples], [len(s.encode()) for s in samples], [len(s.encode("utf-16-le")) // 2 for s in samples])

word = "Ångström ﬁne Ⅻ"
for form in ("NFC", "NFD", "NFKC", "NFKD"):
    n = unicodedata.normalize(form, word)
    print(form, len(n), ascii(n), unicodedata.is_normalized(form, word))
strip = lambda t: "".join(c for c in unicodedata.normalize("NFD", t) if not unicodedata.combining(c))
print(strip("crème brûlée, Ærøskøbing, Łódź, Příliš žluťoučký kůň"))
print("é" == "e\u0301", unicodedata.normalize("NFC", "e\u0301") == "é", "ﬁ".upper(), "ǆ".title(), "Σας".lower(), "ΑΣ".lower(), "ıİ".upper().lower())
print(unicodedata.numeric("½"), unicodedata.digit("٣"), unicodedata.decimal("५"), int("１２３"), float("٣.٥"), unicodedata.mirrored("("), unicodedata.bidirectional("ع"), unicodedata.lookup("SNOWMAN"), "\N{GREEK SMALL LETTER ALPHA}")
print("naïve"[::-1], "日本語".center(9, "*"), "ñ" in "año", "Привет мир".title(), "straße".upper().lower(), "İstanbul".casefold() == "istanbul")
print(sorted(["zebra", "Äpfel", "apfel", "Zoo", "éclair", "eclair"]), sorted(["b", "A", "a", "B"], key=str.casefold))
print("🇨🇭👍🏽".encode().hex(), list("👍🏽"), "\U0001F600" > "\uFFFF", chr(0x10FFFF).encode().hex(), max("aé☃🐍"))


def display_width(s):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c) else 1 for c in s)


for s in ("abc", "日本", "e\u0301té", "ＡＢ"):
    print(s + " " * (8 - display_width(s)) + "|", display_width(s))
变量 = 5
π = 3.14
print(变量 * π, "ﬃ".isidentifier(), unicodedata.unidata_version[:2].isdigit())
try:
    unicodedata.name("\x00")
except ValueError as e:
    print("ValueError:", e)
with open("ünï-名前.txt", "w") as f:
    f.write("путь\n")
import os
print(os.listdir("."), open("ünï-名前.txt").read().strip(), os.path.exists("u\u0308ni\u0308-名前.txt"))
print(os.fsencode("ü"), os.fsdecode(b"\xff"), ascii(os.fsdecode(b"ok\xfe")), sys.getdefaultencoding(), locale.getpreferredencoding())
