"""Build and parse mail with the email package."""
from email import message_from_bytes, policy
from email.headerregistry import Address
from email.message import EmailMessage
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from email.parser import BytesParser, HeaderParser
from email.utils import formataddr, formatdate, getaddresses, parseaddr, parsedate_to_datetime
from email.header import decode_header, make_header

msg = EmailMessage()
msg["Subject"] = "Quarterly report – größer als je"
msg["From"] = Address("Ann Müller", "ann", "example.test")
msg["To"] = "bob@example.test, Carol <carol@example.test>"
msg["Date"] = formatdate(1_700_000_000)
msg["Message-ID"] = "<1@example.test>"
msg.set_content("Hello Bob,\n\nfigures attached.\n\nGrüße\nAnn\n")
msg.add_alternative("<html><body><p>Hello <b>Bob</b></p></body></html>", subtype="html")
msg.add_attachment(b"a,b\n1,2\n", maintype="text", subtype="csv", filename="figures.csv")
msg.add_attachment(bytes(range(40)), maintype="application", subtype="octet-stream", filename="raw data.bin")
for i, part in enumerate(p for p in msg.walk() if p.is_multipart()):
    part.set_boundary(f"===boundary-{i}===")
raw = msg.as_bytes()
print(raw.decode("utf-8"))

back = BytesParser(policy=policy.default).parsebytes(raw)
print(back["subject"], "|", back["from"].addresses[0].display_name, "|", [a.addr_spec for a in back["to"].addresses])
print(back.get_content_type(), back["date"].datetime.isoformat())
print(repr(back.get_body(("plain",)).get_content()))
for a in back.iter_attachments():
    content = a.get_content()
    print(a.get_filename(), a.get_content_type(), len(content), type(content).__name__)

old = MIMEMultipart("alternative", boundary="BB")
old["Subject"] = "old style"
old.attach(MIMEText("plain é", "plain", "utf-8"))
old.attach(MIMEText("<i>html</i>", "html"))
print(old.as_string())

print(parseaddr('"Doe, John" <jd@example.test>'), formataddr(("Zoë", "z@example.test")), getaddresses(["a@x.test, B <b@x.test>"]))
print(str(make_header(decode_header("=?utf-8?q?Caf=C3=A9?= =?iso-8859-1?b?/A==?="))))
print(parsedate_to_datetime("Mon, 20 Nov 1995 19:12:08 -0500"), HeaderParser().parsestr("X-A: 1\nX-B: two\n\tfolded\n\nbody").items())
broken = message_from_bytes(b"Content-Type: multipart/mixed; boundary=zz\n\n--zz\n\npart without end\n", policy=policy.default)
print([type(d).__name__ for d in broken.defects], broken.is_multipart())
try:
    msg["X-Bad"] = "line\nbreak"
except ValueError as e:
    print("ValueError:", e)
