from urllib.parse import (parse_qs, parse_qsl, quote, quote_plus, unquote, unquote_plus, urlencode, urljoin, urlparse, urlsplit, urlunsplit, urldefrag)
import ipaddress
import uuid

for url in [
    "https://user:p%40ss@example.test:8443/a/b;p=1/c.html?x=1&y=two%20words&x=3#frag",
    "mailto:someone@example.test",
    "//cdn.test/lib.js",
    "file:///etc/hosts",
    "http://[2001:db8::1]:80/",
    "relative/path?q",
]:
    u = urlsplit(url)
    print(u)
    print("   ", u.scheme, u.hostname, u.port, u.username, u.password, "->", urlunsplit(u) == url)
print(urlparse("http://h/p;params?q#f").params, urldefrag("http://x/y#z"))

print(parse_qs("a=1&b=&a=2&c=%C3%A9", keep_blank_values=True), parse_qsl("a=1;b=2&c"), urlencode({"q": "a b&c", "é": "ü", "n": 5}), urlencode([("k", [1, 2]), ("z", "x")], doseq=True))
print(quote("a/b c?é"), quote("a/b", safe=""), quote_plus("a b+c"), unquote("%E2%98%83%zz"), unquote_plus("a+b%2B"), unquote("%ff", errors="replace"))
base = "http://a.test/b/c/d;p?q"
for ref in ["g", "./g", "/g", "//g", "?y", "g?y", "#s", "", "..", "../../../g", "http:g", "g;x=1/../y"]:
    print(f"  {ref:<12} {urljoin(base, ref)}")
for bad in ("http://[::1", "http://host:port/", "http://h:99999/"):
    try:
        print(urlsplit(bad).port)
    except ValueError as e:
        print(f"{bad}: ValueError: {e}")

net = ipaddress.ip_network("192.0.2.0/28")
print(net.num_addresses, net.netmask, net.broadcast_address, list(net.hosts())[:2], ipaddress.ip_address("192.0.2.7") in net)
print([str(s) for s in net.subnets(new_prefix=30)], net.supernet(), ipaddress.ip_address("2001:db8::ff").exploded, ipaddress.ip_address(2**32 - 1))
print(*(f"{a}:{ipaddress.ip_address(a).is_private}/{ipaddress.ip_address(a).is_loopback}" for a in ("10.1.1.1", "127.0.0.1", "8.8.8.8", "::1", "fe80::1")))
print([str(n) for n in ipaddress.collapse_addresses(map(ipaddress.ip_network, ["10.0.0.0/25", "10.0.0.128/25", "10.0.1.0/24"]))])
for bad in ("256.1.1.1", "1.2.3", "10.0.0.1/24"):
    try:
        ipaddress.ip_network(bad)
    except ValueError as e:
        print("ValueError:", e)

print(uuid.uuid5(uuid.NAMESPACE_DNS, "example.test"), uuid.uuid3(uuid.NAMESPACE_URL, "http://example.test/"))
u = uuid.UUID("12345678-1234-5678-9234-567812345678")
print(u.version, u.variant, u.hex, u.int % 1000, u.bytes[:4], u.urn, uuid.uuid4().version, uuid.uuid4() != uuid.uuid4(), uuid.uuid1().version)
