"""Count word frequencies in a passage and print a small report."""
import re
from collections import Counter

TEXT = """
The quick brown fox jumps over the lazy dog. The dog, being lazy, did not
react; the fox, being quick, was gone before anyone noticed. "Quick!" said
the farmer's wife, "the fox is after the hens -- and it's a brown one, too."
Hens don't fly far, but they're loud; twenty-two of them woke the village.
"""

STOP_WORDS = {"the", "a", "an", "is", "of", "was", "it", "and", "to"}


def tokenize(text):
    """Yield lower-case words; apostrophes and inner hyphens are kept."""
    for match in re.finditer(r"[a-z]+(?:['-][a-z]+)*", text.lower()):
        yield match.group()


def histogram(counts, width=30):
    top = max(counts.values())
    for word, n in sorted(counts.items(), key=lambda kv: (-kv[1], kv[0]))[:10]:
        bar = "#" * round(n / top * width)
        yield f"{word:<12} {n:>3} {bar}"


def main():
    words = list(tokenize(TEXT))
    counts = Counter(words)
    print(f"Total words : {len(words)}")
    print(f"Unique words: {len(counts)}")
    print(f"Longest word: {max(words, key=len)!r}")
    print(f"Avg length  : {sum(map(len, words)) / len(words):.3f}")
    print()
    print("Top words:")
    for line in histogram(counts):
        print("  " + line)
    print()
    content = Counter({w: c for w, c in counts.items() if w not in STOP_WORDS})
    print("Without stop words:", content.most_common(5))
    by_len = {}
    for w in sorted(counts):
        by_len.setdefault(len(w), []).append(w)
    for n in sorted(by_len):
        print(f"{n:2d}: {', '.join(by_len[n])}")


if __name__ == "__main__":
    main()
