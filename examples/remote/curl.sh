#!/usr/bin/env bash
# Runs a script on a sandbox-server with nothing but curl and standard tools.
#
#     examples/remote/curl.sh [url [token]]
#
# Calls with one message each way are JSON over POST. Streams are envelopes: a byte of flags, four bytes of length
# (big-endian), and a message. Bytes are base64 in JSON.
set -euo pipefail
export LC_ALL=C # lengths are in bytes

url=${1:-http://127.0.0.1:8700}
token=${2:-}
service=$url/sandbox.v2.SandboxService

# The token is not among the arguments, which other users of this machine may see.
request() {
	curl -sS --fail-with-body -H 'Connect-Protocol-Version: 1' \
		-K <(if [ -n "$token" ]; then printf 'header = "Authorization: Bearer %s"\n' "$token"; fi) "$@"
}

# call METHOD JSON prints the answer.
call() { request -H 'Content-Type: application/json' -d "$2" "$service/$1"; }

# envelope JSON is the message as a stream has it.
envelope() {
	local length=${#1}
	printf "\\x00\\x$(printf %02x $((length >> 24 & 255)))\\x$(printf %02x $((length >> 16 & 255)))"
	printf "\\x$(printf %02x $((length >> 8 & 255)))\\x$(printf %02x $((length & 255)))"
	printf %s "$1"
}

# messages prints the messages of a stream as they come, one a line: JSON of the server has no newlines. The last one is that
# with flag 2; it has the error, if there was one.
messages() {
	local head length
	while head=$(head -c 5 | od -An -v -tu1) && [ -n "$head" ]; do
		# shellcheck disable=SC2086 # five numbers
		set -- $head
		length=$((($2 << 24) + ($3 << 16) + ($4 << 8) + $5))
		head -c "$length"
		echo
		[ "$1" -ne 2 ] || break
	done
}

# stream METHOD JSON prints the messages of the answer.
stream() {
	envelope "$2" | request -N -H 'Content-Type: application/connect+json' --data-binary @- "$service/$1" | messages
}

# field NAME prints the value of each field of that name that is a text.
field() { grep -o "\"$1\": *\"[^\"]*\"" | sed 's/^[^:]*: *"//; s/"$//' || true; }

session=$(call OpenSession '{"label": "curl"}' | field sessionId | head -n 1)
trap 'call CloseSession "{\"sessionId\": \"$session\"}" >/dev/null' EXIT

call PutBytes "{\"sessionId\": \"$session\", \"path\": \"names.txt\", \"data\": \"$(printf 'Ada\nGrace\n' | base64 | tr -d '\n')\"}" >/dev/null

script='for name in open(\"names.txt\"): print(\"Hello\", name.strip())\nopen(\"done\", \"w\").write(\"yes\\n\")'
stream Run "{\"sessionId\": \"$session\", \"type\": \"SCRIPT_TYPE_PYTHON\", \"script\": \"$script\", \"timeout\": \"10s\"}" |
	while read -r message; do
		field stdout <<<"$message" | base64 -d
		field stderr <<<"$message" | base64 -d >&2
		if grep -o '"reason": *"[A-Z_]*"' <<<"$message" >&2; then continue; fi
		if grep -o '"error": *{.*' <<<"$message" >&2; then exit 1; fi
	done

call GetBytes "{\"sessionId\": \"$session\", \"path\": \"done\"}" | field data | base64 -d
