"""hashlib.pbkdf2_hmac without OpenSSL (RFC 8018, section 5.2). It gives the same bytes, more slowly."""


def pbkdf2_hmac(hash_name, password, salt, iterations, dklen=None):
    """Password based key derivation function 2 (PKCS #5 v2.0) with HMAC as pseudorandom function."""
    import hashlib

    if not isinstance(hash_name, str):
        raise TypeError(f"argument 'hash_name' must be str, not {type(hash_name).__name__}")
    password, salt = bytes(memoryview(password)), bytes(memoryview(salt))
    inner, outer = hashlib.new(hash_name), hashlib.new(hash_name)
    if iterations < 1:
        raise ValueError("iteration value must be greater than 0.")
    if dklen is None:
        dklen = outer.digest_size
    if dklen < 1:
        raise ValueError("key length must be greater than 0.")
    if len(password) > inner.block_size:
        password = hashlib.new(hash_name, password).digest()
    password = password.ljust(inner.block_size, b"\0")
    inner.update(bytes(byte ^ 0x36 for byte in password))
    outer.update(bytes(byte ^ 0x5C for byte in password))

    def prf(message):
        first, second = inner.copy(), outer.copy()
        first.update(message)
        second.update(first.digest())
        return second.digest()

    key, block, number = b"", 1, int.from_bytes
    while len(key) < dklen:
        last = prf(salt + block.to_bytes(4, "big"))
        total = number(last, "big")
        for _ in range(iterations - 1):
            last = prf(last)
            total ^= number(last, "big")
        key += total.to_bytes(inner.digest_size, "big")
        block += 1
    return key[:dklen]
