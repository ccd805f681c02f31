"""Runs a script on a sandbox-server: PYTHONPATH=clients/python python3 examples/remote/python/hello.py [url [token]]"""

import sys

import sandbar

url, token = (sys.argv[1:] + [None, None])[:2]

with sandbar.Client(url or "http://127.0.0.1:8700", token) as client, client.session(label="hello") as session:
    session.put_bytes("names.txt", "Ada\nGrace\n".encode())
    process = session.run("for name in open('names.txt'): print('Hello', name.strip())", timeout=10)
    for line in process.iter_stdout_lines():
        print(line)
    result = process.wait()
    print(f"{result.reason}, exit code {result.exit_code}, in the {result.tier} tier", file=sys.stderr)
