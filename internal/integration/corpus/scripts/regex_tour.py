import re

print(re.findall(r"\b(\w)(\w*)\b", "Hello big World"))
print(re.sub(r"(\d+)", lambda m: str(int(m[1]) * 2), "a1 b22 c333"))
print(re.sub(r"(?<=\d)(?=(?:\d{3})+$)", ",", "1234567890"))
print(re.split(r"\s*([,;])\s*", "a , b;c ,d"))
print(re.split(r"(?m)^-+$", "one\n---\ntwo\n-\nthree"))
print([m.span() for m in re.finditer("aa", "aaaaa")], re.findall("(?=(aa))", "aaaaa"))
print(re.fullmatch(r"(?i)[a-z_]\w*", "Name_1"), re.match("x", "abc"))
print(re.search(r"(?P<year>\d{4})-(?P<month>\d\d)", "on 2024-05-06").groupdict())
print(re.sub(r"(?P<a>\w+) (?P<b>\w+)", r"\g<b> \g<a>", "first second third fourth"))
print(re.findall(r"(a|ab)(c|bcd)(d*)", "abcd"))
print(re.match(r"(a+?)(a*)(b)?", "aaa").groups(), re.match(r"(a++)(a?)", "aaa").groups())
print(re.search(r"(?>a+)b", "aaab"), re.search(r"(?>a+)ab", "aaab"))
print(re.findall(r"(?s)<(\w+)>(.*?)</\1>", "<b>bold\ntext</b><i>it</i>"))
print(re.findall(r"[^\W\d_]+", "naïve café 123 Ελλάδα _x_ 漢字"))
print(re.findall(r"(?a)\w+", "naïve café"))
print(re.findall(rb"\xff.", b"a\xffb\xff\xfe"))
print(re.subn(r"\s+", " ", "  lots   of\t\nspace  "))
print(re.escape("1+1=2? (yes) [no] #x"))
print(re.sub(r"(?x) ( \d+ ) \s* (kg|lb)", r"[\1|\2]", "5 kg and 12lb"))
print(re.match(r"(?:(\d+)|(\w+))(?(1)!|\?)", "12!"), re.match(r"(?:(\d+)|(\w+))(?(1)!|\?)", "ab?"))

pattern = re.compile(r"(?P<key>\w+)\s*=\s*(?P<val>'[^']*'|\S+)")
print(pattern, pattern.groups, pattern.groupindex, pattern.flags)
m = pattern.search("set name = 'J. Doe' ok")
print(m, m.lastgroup, m.start("val"), m.end("val"), m.expand(r"\g<key>:\g<val>"))


class Scanner:
    TOKENS = [("NUM", r"\d+(?:\.\d*)?"), ("ID", r"[A-Za-z_]\w*"), ("OP", r"[-+*/()=]"), ("WS", r"\s+"), ("BAD", r".")]
    MASTER = re.compile("|".join(f"(?P<{n}>{p})" for n, p in TOKENS))

    def scan(self, text):
        return [(m.lastgroup, m.group()) for m in self.MASTER.finditer(text) if m.lastgroup != "WS"]


print(Scanner().scan("area = 3.14 * r*r $"))

for bad in ["(", "a)", "[a", "*a", "a{2,1}", r"(?P<1>x)", r"(?P=x)", r"\2", "(?<=a+)b", "(?z)", r"\q", "x**"]:
    try:
        re.compile(bad)
        print(repr(bad), "ok")
    except re.error as e:
        print(f"{bad!r:14} {e}")
