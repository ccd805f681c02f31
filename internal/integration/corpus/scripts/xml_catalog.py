import xml.etree.ElementTree as ET
from xml.dom import minidom
from xml.sax import make_parser, handler, saxutils
import io

SOURCE = """<?xml version="1.0" encoding="UTF-8"?>
<!-- the shop -->
<catalog xmlns:m="http://example.test/meta" currency="EUR">
  <book id="b1" lang="en"><title>XML &amp; You</title><price>29.90</price><m:rank>3</m:rank></book>
  <book id="b2"><title>Größe</title><price>12</price></book>
  <cd id="c1"><title><![CDATA[<Loud>]]></title><price>9.5</price></cd>
</catalog>
"""

root = ET.fromstring(SOURCE.encode())
print(root.tag, root.attrib, len(root))
for item in root:
    print(f"{item.tag:<5}{item.get('id'):<4}{item.findtext('title'):<10}{float(item.findtext('price')):>7.2f} {item.get('lang', '-')}")
ns = {"m": "http://example.test/meta"}
print(root.find("book/m:rank", ns).text, [b.get("id") for b in root.findall("./book[price='12']")], [e.tag for e in root.iter()][:4])
print(root.findall(".//title")[-1].text, root.find("book[@lang]").get("id"), root.find("dvd"))

for price in root.iter("price"):
    price.text = f"{float(price.text) * 1.1:.2f}"
    price.set("updated", "yes")
new = ET.SubElement(root, "book", id="b3")
ET.SubElement(new, "title").text = 'Quotes " & <tags>'
root.remove(root.find("cd"))
ET.register_namespace("meta", "http://example.test/meta")
ET.indent(root, "  ")
print(ET.tostring(root, encoding="unicode"))
ET.ElementTree(root).write("out.xml", encoding="iso-8859-1", xml_declaration=True, short_empty_elements=False)
print(open("out.xml", "rb").read()[:60])
print(ET.canonicalize("<a  z='1' y='2'><b/></a>"))

for event, elem in ET.iterparse(io.BytesIO(SOURCE.encode()), events=("start", "end")):
    if elem.tag in ("book", "catalog"):
        print(event, elem.tag, end="; ")
print()

doc = minidom.parseString("<r><p k='v'>text</p><!--c--><q/></r>")
p = doc.getElementsByTagName("p")[0]
print(p.getAttribute("k"), p.firstChild.data, [n.nodeName for n in doc.documentElement.childNodes])
el = doc.createElement("new")
el.appendChild(doc.createTextNode("a<b"))
doc.documentElement.appendChild(el)
print(doc.toprettyxml(indent=" "))


class Counter(handler.ContentHandler):
    def __init__(self):
        super().__init__()
        self.n, self.text = {}, []

    def startElement(self, name, attrs):
        self.n[name] = self.n.get(name, 0) + 1

    def characters(self, content):
        if content.strip():
            self.text.append(content.strip())


h = Counter()
parser = make_parser()
parser.setContentHandler(h)
parser.parse(io.StringIO(SOURCE))
print(h.n, h.text)
print(saxutils.escape("a<b>&c"), saxutils.quoteattr('say "x"'), saxutils.unescape("&lt;"))

for bad in ("<a><b></a>", "<a", "", "<a/><b/>", "<a>&nope;</a>", "<a x=1/>", "<a>\x01</a>", "<?xml version='1.0' encoding='nope'?><a/>"):
    try:
        ET.fromstring(bad)
    except ET.ParseError as e:
        print(f"{bad!r:<22.22} ParseError: {e} {e.position}")
    except (LookupError, ValueError) as e:
        print(f"{bad!r:<22.22} {type(e).__name__}: {e}")
bomb = '<!DOCTYPE x [<!ENTITY a "ha">' + "".join(f'<!ENTITY {chr(98 + i)} "{("&" + chr(97 + i) + ";") * 2}">' for i in range(4)) + "]><x>&e;</x>"
print(ET.fromstring(bomb).text)
