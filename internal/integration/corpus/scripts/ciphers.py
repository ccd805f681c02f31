import string
from itertools import cycle


def caesar(text, k):
    lower, upper = string.ascii_lowercase, string.ascii_uppercase
    k %= 26
    return text.translate(str.maketrans(lower + upper, lower[k:] + lower[:k] + upper[k:] + upper[:k]))


def vigenere(text, key, sign=1):
    shifts = cycle(ord(c) - 97 for c in key.lower())
    return "".join(caesar(c, sign * next(shifts)) if c.isascii() and c.isalpha() else c for c in text)


def rail_fence(text, n):
    rails, r, d = [""] * n, 0, 1
    for c in text:
        rails[r] += c
        d = 1 if r == 0 else -1 if r == n - 1 else d
        r += d
    return "".join(rails)


def xor(data: bytes, key: bytes) -> bytes:
    return bytes(a ^ b for a, b in zip(data, cycle(key)))


def rc4(key: bytes, data: bytes) -> bytes:
    s, j = list(range(256)), 0
    for i in range(256):
        j = (j + s[i] + key[i % len(key)]) % 256
        s[i], s[j] = s[j], s[i]
    i = j = 0
    out = bytearray()
    for b in data:
        i = (i + 1) % 256
        j = (j + s[i]) % 256
        s[i], s[j] = s[j], s[i]
        out.append(b ^ s[(s[i] + s[j]) % 256])
    return bytes(out)


def sha1(data: bytes) -> str:
    h = [0x67452301, 0xEFCDAB89, 0x98BADCFE, 0x10325476, 0xC3D2E1F0]
    rol = lambda x, n: (x << n | x >> 32 - n) & 0xFFFFFFFF
    msg = data + b"\x80" + b"\0" * ((55 - len(data)) % 64) + (8 * len(data)).to_bytes(8, "big")
    for p in range(0, len(msg), 64):
        w = [int.from_bytes(msg[p + i:p + i + 4], "big") for i in range(0, 64, 4)]
        for i in range(16, 80):
            w.append(rol(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1))
        a, b, c, d, e = h
        for i, x in enumerate(w):
            if i < 20: f, k = (b & c) | (~b & d), 0x5A827999
            elif i < 40: f, k = b ^ c ^ d, 0x6ED9EBA1
            elif i < 60: f, k = (b & c) | (b & d) | (c & d), 0x8F1BBCDC
            else: f, k = b ^ c ^ d, 0xCA62C1D6
            a, b, c, d, e = (rol(a, 5) + f + e + k + x) & 0xFFFFFFFF, a, rol(b, 30), c, d
        h = [(x + y) & 0xFFFFFFFF for x, y in zip(h, (a, b, c, d, e))]
    return "".join(f"{x:08x}" for x in h)


MORSE = dict(zip(string.ascii_lowercase, ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --..".split()))
text = "Attack at Dawn, Größe 5!"
print(caesar(text, 3), "|", caesar(caesar(text, 3), -3) == text, "|", caesar("Uryyb", 13))
print(vigenere(text, "lemon"), "|", vigenere(vigenere(text, "lemon"), "lemon", -1) == text)
print(rail_fence("WEAREDISCOVEREDFLEEATONCE", 3))
print(xor(b"hello", b"key").hex(), xor(xor(b"hello", b"key"), b"key"))
print(rc4(b"Key", b"Plaintext").hex(), rc4(b"Wiki", b"pedia").hex())
import hashlib
for m in (b"", b"abc", b"a" * 1000):
    print(sha1(m), sha1(m) == hashlib.sha1(m).hexdigest())
print(" / ".join(" ".join(MORSE[c] for c in w) for w in "hello world".split()))
n, e, d = 3233, 17, 2753
cipher = [pow(ord(c), e, n) for c in "RSA"]
print(cipher, "".join(chr(pow(c, d, n)) for c in cipher))
sample = caesar("the rain in spain stays mainly in the plain and the sun shines on the hills", 7)
freq = "etaoinshrdlu"
best = max(range(26), key=lambda k: sum(caesar(sample, -k).count(c) * (12 - i) for i, c in enumerate(freq)))
print("broken with key", best, caesar(sample, -best)[:24])
