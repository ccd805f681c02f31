import math
import statistics as st
from collections import Counter

scores = [88, 92, 79, 93, 85, 79, 91, 68, 73, 100, 85, 79]
heights = [1.62, 1.75, 1.80, 1.68, 1.91, 1.55, 1.73]

print(f"n        {len(scores)}")
print(f"mean     {st.mean(scores)}  fmean {st.fmean(scores):.4f}")
print(f"median   {st.median(scores)} low {st.median_low(scores)} high {st.median_high(scores)}")
print(f"mode     {st.mode(scores)} all {st.multimode([1, 1, 2, 2, 3])}")
print(f"stdev    {st.stdev(scores):.6f} population {st.pstdev(scores):.6f} variance {st.variance(heights):.6f}")
print(f"quartile {st.quantiles(scores)} deciles {[round(q, 2) for q in st.quantiles(scores, n=10, method='inclusive')]}")
print(f"geometric {st.geometric_mean([1, 2, 4, 8]):.6f} harmonic {st.harmonic_mean([40, 60])} weighted {st.fmean([1, 2, 3], [3, 1, 1])}")
print(f"grouped  {st.median_grouped([1, 2, 2, 3, 4, 4, 4, 4, 4, 5], interval=1)}")

x = [1, 2, 3, 4, 5, 6]
y = [2.1, 3.9, 6.2, 8.1, 9.8, 12.2]
slope, intercept = st.linear_regression(x, y)
print(f"regression y = {slope:.4f} x + {intercept:+.4f}, r = {st.correlation(x, y):.6f}, cov = {st.covariance(x, y):.4f}")
print("rank correlation:", st.correlation([1, 2, 3, 4], [10, 30, 20, 40], method="ranked"))

iq = st.NormalDist(100, 15)
print(iq, f"P(<85) = {iq.cdf(85):.6f}", f"95% quantile = {iq.inv_cdf(0.95):.4f}", f"overlap = {iq.overlap(st.NormalDist(110, 15)):.5f}", iq + 5, iq * 2)
print([round(q, 3) for q in st.NormalDist.from_samples(scores).quantiles(4)], round(iq.zscore(130), 3))

from fractions import Fraction
from decimal import Decimal
print(st.mean([Fraction(1, 3), Fraction(1, 6)]), st.mean([Decimal("0.5"), Decimal("0.75")]), st.median([Fraction(1, 2)]))

bins = Counter(s // 10 * 10 for s in scores)
for b in range(60, 101, 10):
    print(f"{b:>3}-{b + 9:<3} {'*' * bins[b]}")


def moving_average(data, k):
    total = sum(data[:k])
    out = [total / k]
    for old, new in zip(data, data[k:]):
        total += new - old
        out.append(total / k)
    return out


print([round(v, 2) for v in moving_average(scores, 4)])


def skewness(data):
    m, s = st.fmean(data), st.pstdev(data)
    return sum(((v - m) / s) ** 3 for v in data) / len(data)


print(f"skewness {skewness(scores):.5f}, z-scores {[round((s - st.mean(scores)) / st.pstdev(scores), 2) for s in scores[:4]]}")
print("entropy:", round(-sum(c / 12 * math.log2(c / 12) for c in Counter(scores).values()), 6))
for act in (lambda: st.mean([]), lambda: st.mode([]), lambda: st.stdev([1]), lambda: st.harmonic_mean([1, -1]), lambda: st.quantiles([], n=4), lambda: st.correlation([1, 1], [1, 2])):
    try:
        act()
    except st.StatisticsError as e:
        print("StatisticsError:", e)
