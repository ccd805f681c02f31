import heapq
from collections import defaultdict, deque
from graphlib import TopologicalSorter, CycleError

EDGES = [("A", "B", 7), ("A", "C", 3), ("C", "B", 1), ("B", "D", 2), ("C", "D", 8), ("D", "E", 4), ("C", "E", 15), ("F", "G", 1)]


def build(edges, directed=False):
    g = defaultdict(dict)
    for u, v, w in edges:
        g[u][v] = w
        if directed:
            g[v]
        else:
            g[v][u] = w
    return g


def dijkstra(g, start):
    dist, prev = {start: 0}, {}
    heap = [(0, start)]
    while heap:
        d, u = heapq.heappop(heap)
        if d > dist[u]:
            continue
        for v, w in g[u].items():
            nd = d + w
            if nd < dist.get(v, float("inf")):
                dist[v], prev[v] = nd, u
                heapq.heappush(heap, (nd, v))
    return dist, prev


def path(prev, target):
    out = [target]
    while out[-1] in prev:
        out.append(prev[out[-1]])
    return " -> ".join(reversed(out))


def bfs_levels(g, start):
    level = {start: 0}
    queue = deque([start])
    while queue:
        u = queue.popleft()
        for v in sorted(g[u]):
            if v not in level:
                level[v] = level[u] + 1
                queue.append(v)
    return level


def components(g):
    seen, out = set(), []
    for node in sorted(g):
        if node not in seen:
            comp = sorted(bfs_levels(g, node))
            seen.update(comp)
            out.append(comp)
    return out


class UnionFind:
    def __init__(self, items):
        self.parent = {x: x for x in items}

    def find(self, x):
        while self.parent[x] != x:
            self.parent[x] = x = self.parent[self.parent[x]]
        return x

    def union(self, a, b):
        a, b = self.find(a), self.find(b)
        self.parent[a] = b
        return a != b


def kruskal(edges):
    uf = UnionFind({x for e in edges for x in e[:2]})
    return [e for e in sorted(edges, key=lambda e: e[2]) if uf.union(e[0], e[1])]


def floyd(g):
    nodes = sorted(g)
    d = {(u, v): 0 if u == v else g[u].get(v, float("inf")) for u in nodes for v in nodes}
    for k in nodes:
        for i in nodes:
            for j in nodes:
                d[i, j] = min(d[i, j], d[i, k] + d[k, j])
    return nodes, d


g = build(EDGES)
dist, prev = dijkstra(g, "A")
for target in sorted(dist):
    print(f"{target}: {dist[target]:>3}  {path(prev, target)}")
print("levels:", bfs_levels(g, "A"))
print("components:", components(g))
print("mst:", kruskal(EDGES), "weight", sum(w for *_, w in kruskal(EDGES)))
nodes, d = floyd(build(EDGES, directed=True))
print("    " + "".join(f"{n:>5}" for n in nodes))
for u in nodes:
    print(f"{u:>3} " + "".join(f"{d[u, v]:>5}" for v in nodes))

deps = {"app": {"lib", "cfg"}, "lib": {"core"}, "test": {"app"}, "cfg": {"core"}, "core": set()}
ts = TopologicalSorter(deps)
ts.prepare()
while ts.is_active():
    ready = sorted(ts.get_ready())
    print("build:", ready)
    ts.done(*ready)
try:
    list(TopologicalSorter({"a": ["b"], "b": ["c"], "c": ["a"]}).static_order())
except CycleError as e:
    print("CycleError:", e.args[0], len(e.args[1]))


def scc(graph):
    index, low, stack, on, out = {}, {}, [], set(), []

    def visit(v):
        index[v] = low[v] = len(index)
        stack.append(v)
        on.add(v)
        for w in graph[v]:
            if w not in index:
                visit(w)
                low[v] = min(low[v], low[w])
            elif w in on:
                low[v] = min(low[v], index[w])
        if low[v] == index[v]:
            comp = []
            while True:
                w = stack.pop()
                on.discard(w)
                comp.append(w)
                if w == v:
                    break
            out.append(sorted(comp))

    for v in graph:
        if v not in index:
            visit(v)
    return sorted(out)


print("scc:", scc({1: [2], 2: [3], 3: [1, 4], 4: [5], 5: [4, 6], 6: []}))
