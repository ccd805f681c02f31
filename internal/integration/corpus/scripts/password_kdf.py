"""Password storage with PBKDF2, the way a tutorial shows it."""
import base64
import hashlib
import hmac
import os
from dataclasses import dataclass


@dataclass
class Stored:
    algorithm: str
    rounds: int
    salt: bytes
    digest: bytes

    def encode(self) -> str:
        b64 = lambda b: base64.b64encode(b).decode().rstrip("=")
        return f"${self.algorithm}${self.rounds}${b64(self.salt)}${b64(self.digest)}"

    @classmethod
    def decode(cls, text: str) -> "Stored":
        _, algorithm, rounds, salt, digest = text.split("$")
        unb64 = lambda s: base64.b64decode(s + "=" * (-len(s) % 4))
        return cls(algorithm, int(rounds), unb64(salt), unb64(digest))


def hash_password(password: str, *, salt: bytes | None = None, rounds: int = 2000) -> str:
    salt = os.urandom(16) if salt is None else salt
    digest = hashlib.pbkdf2_hmac("sha256", password.encode(), salt, rounds)
    return Stored("pbkdf2-sha256", rounds, salt, digest).encode()


def verify(password: str, stored: str) -> bool:
    s = Stored.decode(stored)
    again = hashlib.pbkdf2_hmac("sha256", password.encode(), s.salt, s.rounds)
    return hmac.compare_digest(again, s.digest)


fixed = hash_password("correct horse", salt=b"0123456789abcdef")
print(fixed)
print("verify right:", verify("correct horse", fixed))
print("verify wrong:", verify("Correct horse", fixed))
fresh = {hash_password("same") for _ in range(3)}
print("distinct salts:", len(fresh))
print(hashlib.pbkdf2_hmac("sha1", b"password", b"salt", 2).hex())
print(hashlib.pbkdf2_hmac("sha512", b"p" * 200, b"s", 1, dklen=70).hex()[:60])
for kw in ({"iterations": 0}, {"iterations": 1, "dklen": -1}, {"iterations": 1, "hash_name": "nope"}):
    try:
        hashlib.pbkdf2_hmac(**{"hash_name": "sha256", "password": b"x", "salt": b"y", **kw})
    except (ValueError, OverflowError) as e:
        print(type(e).__name__)
