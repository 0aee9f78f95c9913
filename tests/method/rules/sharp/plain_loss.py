"""Λ of docs/method.md#the-sharp-guarantee, transcribed plainly: every t on its own, grid and golden section for B."""

import math

import numpy as np


def path(Q, eta):
    Y = [0.0]
    for x in range(1, Q + 1):
        p = np.arange(x)
        Y.append(float(np.min(np.array(Y) + x * np.exp(-eta * (p + 2)))))
    return Y[Q]


def inner(B, q, costs, cap, budget):
    if cap <= 0 or len(costs) == 0:
        return 0.0
    D, c = 1 + q * B, 1 - q

    def z(lam):
        return np.clip((np.sqrt(D / (lam * costs)) - D) / c, 0, cap)

    if costs.sum() * cap <= budget:
        x = np.full(len(costs), cap)
    else:
        lo, hi = 1e-300, 1e10
        for _ in range(75):
            mid = math.sqrt(lo * hi)
            lo, hi = (mid, hi) if (costs * z(mid)).sum() > budget else (lo, mid)
        x = z(hi)
    return float((x / (D + c * x)).sum())


def best(f, lo, hi):
    grid = np.unique(np.concatenate([np.geomspace(max(lo, 1e-9 * hi), hi, 60), np.linspace(lo, hi, 30)]))
    grid = grid[grid > 0]
    values = [f(b) for b in grid]
    i = int(np.argmax(values))
    a, b = grid[max(i - 1, 0)], grid[min(i + 1, len(grid) - 1)]
    g = (math.sqrt(5) - 1) / 2
    for _ in range(45):
        x, y = b - g * (b - a), a + g * (b - a)
        a, b = (x, b) if f(x) < f(y) else (a, y)
    return max(max(values), f((a + b) / 2))


def plain_loss(n, k, m, epsilon):
    e1 = epsilon / 1.5
    q, eta = math.exp(-e1), epsilon / 3
    v, N = math.exp(-eta), n + 1

    def cost(first, last):
        t = np.arange(first, last + 1)
        t = t[e1 * t < 200]
        return (1 - q) * np.exp(e1 * t)

    if k > n:
        s = k + 1 - N
        costs = cost(s + 1, k)
        unit = math.exp(min(e1 * s, 200))
        return best(lambda B: B / (1 + B) + inner(B, q, costs, B, m - 1 - B * unit), 0, (m - 1) / unit)
    Y = path(n - k, eta)
    c2, c1 = cost(2, k), cost(1, k)
    first = best(lambda B: (2 * B - Y) / (1 + B) + inner(B, q, c2, B, m - 1 - B * math.exp(e1)), 0, (m - 1) * q)
    second = best(lambda B: (B - Y) / (v + B) + inner(B, q, c1, B - 1, m - 1 - B), 1, m - 1)
    return max(0, first, second)
