"""Extract links, headings and a table from HTML with html.parser only."""
import html
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

PAGE = """<!DOCTYPE html>
<html><head><title>Prices &mdash; today</title><style>p { color: red }</style>
<script>if (a < b && c) { document.write("<p>no</p>"); }</script></head>
<body>
<h1 id=top>Prices</h1>
<p>See <a href="/about?x=1&amp;y=2">about</a>, <A HREF='https://other.test/p#frag'>other</A> &amp; <a>nothing</a><br/>
<table><tr><th>Item<th>Price</tr><tr><td>Apple</td><td>&euro;&nbsp;1.20</td></tr>
<tr><td>B&#xe9;rry</td><td>0.80</td></tr></table>
<img src=pic.png alt="A &quot;pic&quot;"><!-- hidden <a href="no"> -->
<p>Unclosed & odd &unknown; &copy 2024 <b>bold <i>both</b></i>
<h2>End</h2></body></html>"""


class Extractor(HTMLParser):
    def __init__(self, base):
        super().__init__(convert_charrefs=True)
        self.base = base
        self.links, self.headings, self.rows, self.images = [], [], [], []
        self.stack, self.depth = [], 0
        self.title = ""
        self.comments = []

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.stack.append(tag)
        if tag == "a" and attrs.get("href"):
            self.links.append(urljoin(self.base, attrs["href"]))
        elif tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag in ("h1", "h2"):
            self.headings.append([tag, attrs.get("id"), ""])
        elif tag == "img":
            self.images.append((attrs["src"], attrs["alt"]))

    def handle_endtag(self, tag):
        while self.stack and self.stack.pop() != tag:
            pass

    def handle_startendtag(self, tag, attrs):
        print("empty tag:", tag)

    def handle_data(self, data):
        if not self.stack:
            return
        top = self.stack[-1]
        if top == "title":
            self.title += data
        elif top in ("td", "th"):
            self.rows[-1][-1] += data.strip()
        elif top in ("h1", "h2"):
            self.headings[-1][2] += data

    def handle_comment(self, data):
        self.comments.append(data.strip())

    def handle_decl(self, decl):
        print("declaration:", decl)


ex = Extractor("http://shop.test/dir/page.html")
for i in range(0, len(PAGE), 13):  # as it would come from a socket
    ex.feed(PAGE[i:i + 13])
ex.close()
print("title:", ex.title)
print("links:", *ex.links, sep="\n  ")
print("headings:", ex.headings)
print("images:", ex.images, "comments:", ex.comments)
for row in ex.rows:
    print(" | ".join(f"{c:<8}" for c in row))
print([urlsplit(u).netloc for u in ex.links])


class TextOnly(HTMLParser):
    def __init__(self):
        super().__init__()
        self.parts, self.skip = [], 0

    def handle_starttag(self, tag, attrs):
        self.skip += tag in ("script", "style")

    def handle_endtag(self, tag):
        self.skip -= tag in ("script", "style")

    def handle_data(self, data):
        if not self.skip:
            self.parts.append(data)


t = TextOnly()
t.feed(PAGE)
print(" ".join("".join(t.parts).split()))
print(html.escape("<a href='x'>&</a>"), html.unescape("&lt;&#8364;&nbsp;&notit;&hellip"), html.escape('"', quote=False))
