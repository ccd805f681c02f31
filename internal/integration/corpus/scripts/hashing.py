"""Digests, HMACs and encodings of a few known inputs."""
import base64
import binascii
import hashlib
import hmac
import secrets

DATA = b"The quick brown fox jumps over the lazy dog"

for name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "blake2b", "blake2s"):
    h = hashlib.new(name, DATA)
    print(f"{name:<9} {h.digest_size:>3} {h.block_size:>4} {h.hexdigest()[:40]}")
for name in ("shake_128", "shake_256"):
    print(name, hashlib.new(name, DATA).hexdigest(16))
print(hashlib.md5(b"", usedforsecurity=False).hexdigest(), hashlib.sha256().hexdigest()[:16])

h = hashlib.sha256()
for i in range(0, len(DATA), 7):
    h.update(DATA[i:i + 7])
copy = h.copy()
copy.update(b"!")
print(h.hexdigest() == hashlib.sha256(DATA).hexdigest(), copy.hexdigest() != h.hexdigest(), h.name)
print(hashlib.blake2b(DATA, digest_size=8, key=b"k", salt=b"salt", person=b"me").hexdigest())

with open("big.bin", "wb") as f:
    for i in range(300):
        f.write(bytes([i % 251]) * 1000)
with open("big.bin", "rb") as f:
    print("file:", hashlib.file_digest(f, "sha256").hexdigest()[:24])

mac = hmac.new(b"secret key", DATA, hashlib.sha256)
print("hmac:", mac.hexdigest()[:32], hmac.compare_digest(mac.digest(), hmac.digest(b"secret key", DATA, "sha256")))
print(hmac.new(b"k", digestmod="sha512").name, hmac.compare_digest("a", "b"))
print({"md5", "sha1", "sha256", "sha512", "blake2b", "sha3_512"} <= hashlib.algorithms_available, "sha256" in hashlib.algorithms_guaranteed)

raw = bytes(range(0, 256, 5))
for name in ("b16", "b32", "b64", "b85", "a85", "b32hex"):
    enc = getattr(base64, name + "encode")(raw)
    print(f"{name:<7}{enc.decode()[:44]:<46}{getattr(base64, name + 'decode')(enc) == raw}")
print(base64.urlsafe_b64encode(b"\xfb\xff\xfe"), base64.standard_b64encode(b"\xfb\xff\xfe"), base64.b64decode("aGk="), base64.b64decode("a G\nk="))
print(base64.encodebytes(b"x" * 60))
print(binascii.hexlify(b"\x01\xab", " "), binascii.unhexlify("00ff"), binascii.crc32(DATA), binascii.b2a_uu(b"uu"), binascii.crc_hqx(DATA, 0))
for act in (
    lambda: base64.b64decode("abc"),
    lambda: base64.b64decode("a*b=", validate=True),
    lambda: bytes.fromhex("0g"),
    lambda: binascii.unhexlify("abc"),
    lambda: hashlib.new("nope"),
    lambda: hashlib.sha256("text"),
    lambda: hmac.new(b"k", b"m"),
    lambda: base64.b32decode("1"),
):
    try:
        act()
        print("no error")
    except Exception as e:
        print(f"{type(e).__name__}: {e}")
token = secrets.token_hex(16)
print(len(token), len(secrets.token_urlsafe(10)), 0 <= secrets.randbelow(10) < 10, secrets.choice("aaa"), secrets.compare_digest(b"x", b"x"))
