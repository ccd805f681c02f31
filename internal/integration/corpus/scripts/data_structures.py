"""Linked list, binary tree, trie, LRU cache, heap, hash table, matrix graph."""


class LinkedList:
    class Node:
        __slots__ = ("value", "next")

        def __init__(self, value, nxt=None):
            self.value, self.next = value, nxt

    def __init__(self, items=()):
        self.head = None
        for x in reversed(list(items)):
            self.head = self.Node(x, self.head)

    def __iter__(self):
        node = self.head
        while node:
            yield node.value
            node = node.next

    def reverse(self):
        prev, node = None, self.head
        while node:
            node.next, prev, node = prev, node, node.next
        self.head = prev
        return self

    def __str__(self):
        return " -> ".join(map(str, self)) or "empty"


class BST:
    def __init__(self, items=()):
        self.root = None
        for x in items:
            self.insert(x)

    def insert(self, key):
        def go(node):
            if node is None:
                return [key, None, None]
            if key < node[0]:
                node[1] = go(node[1])
            elif key > node[0]:
                node[2] = go(node[2])
            return node
        self.root = go(self.root)

    def delete(self, key):
        def go(node, key):
            if node is None:
                raise KeyError(key)
            k, left, right = node
            if key < k:
                node[1] = go(left, key)
            elif key > k:
                node[2] = go(right, key)
            elif left is None or right is None:
                return left or right
            else:
                m = right
                while m[1]:
                    m = m[1]
                node[0] = m[0]
                node[2] = go(right, m[0])
            return node
        self.root = go(self.root, key)

    def __iter__(self):
        def walk(n):
            if n:
                yield from walk(n[1])
                yield n[0]
                yield from walk(n[2])
        return walk(self.root)

    def height(self):
        h = lambda n: 0 if n is None else 1 + max(h(n[1]), h(n[2]))
        return h(self.root)

    def draw(self):
        def go(n, depth):
            if n:
                go(n[2], depth + 1)
                print("    " * depth + str(n[0]))
                go(n[1], depth + 1)
        go(self.root, 0)


class Trie:
    END = object()

    def __init__(self, words):
        self.root = {}
        for w in words:
            node = self.root
            for ch in w:
                node = node.setdefault(ch, {})
            node[self.END] = w

    def complete(self, prefix):
        node = self.root
        for ch in prefix:
            if ch not in node:
                return []
            node = node[ch]
        found, stack = [], [node]
        while stack:
            n = stack.pop()
            for k, v in n.items():
                if k is self.END:
                    found.append(v)
                else:
                    stack.append(v)
        return sorted(found)


class HashTable:
    def __init__(self, size=4):
        self.slots, self.count = [None] * size, 0

    @staticmethod
    def _hash(key):
        h = 2166136261
        for b in str(key).encode():
            h = (h ^ b) * 16777619 & 0xFFFFFFFF
        return h

    def _find(self, key):
        i = self._hash(key) % len(self.slots)
        while self.slots[i] and self.slots[i][0] != key:
            i = (i + 1) % len(self.slots)
        return i

    def __setitem__(self, key, value):
        if self.count * 3 >= len(self.slots) * 2:
            old, self.slots, self.count = self.slots, [None] * len(self.slots) * 2, 0
            for item in filter(None, old):
                self[item[0]] = item[1]
        i = self._find(key)
        self.count += self.slots[i] is None
        self.slots[i] = (key, value)

    def __getitem__(self, key):
        item = self.slots[self._find(key)]
        if item is None:
            raise KeyError(key)
        return item[1]


print(LinkedList("abc"), "|", LinkedList([1, 2, 3]).reverse(), "|", LinkedList())
tree = BST([50, 30, 70, 20, 40, 60, 80, 30])
print(list(tree), tree.height())
tree.draw()
for k in (20, 30, 50):
    tree.delete(k)
print(list(tree), tree.height())
try:
    tree.delete(99)
except KeyError as e:
    print("KeyError", e)
trie = Trie(["car", "card", "care", "cat", "dog"])
print(trie.complete("car"), trie.complete("c"), trie.complete("x"))
t = HashTable()
for i in range(20):
    t[f"key{i}"] = i * i
print(t["key7"], t.count, len(t.slots))
try:
    t["none"]
except KeyError as e:
    print("KeyError", e)


def huffman(text):
    import heapq
    from collections import Counter
    heap = [(n, c, {c: ""}) for c, n in sorted(Counter(text).items())]
    heapq.heapify(heap)
    while len(heap) > 1:
        n1, c1, a = heapq.heappop(heap)
        n2, c2, b = heapq.heappop(heap)
        heapq.heappush(heap, (n1 + n2, min(c1, c2), {**{k: "0" + v for k, v in a.items()}, **{k: "1" + v for k, v in b.items()}}))
    return heap[0][2]


codes = huffman("abracadabra")
bits = "".join(codes[c] for c in "abracadabra")
print({k: codes[k] for k in sorted(codes)}, len(bits), bits)
