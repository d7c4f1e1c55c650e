import type { EvalRow, EvalSet, Figures } from "../../api/types";

/** What is drawn of every row. */
export const METRICS = [
  { key: "mrr@100", label: "MRR" },
  { key: "ndcg@10", label: "nDCG@10" },
  { key: "recall@10", label: "Recall@10" },
] as const;

const NAMES: Record<string, string> = {
  mrr: "MRR",
  ndcg: "nDCG",
  recall: "Recall",
  hit: "Hit rate",
  precision: "Precision",
  judged: "Judged",
  condensed_ndcg: "Condensed nDCG",
};

// Those that the search page has a switch for; others can be added by hand.
// The graph alone answers only questions of structure, of which few sets have any.
const USUAL = ["keyword", "embedding", "hybrid", "auto"];

/** Return the configurations that are shown at first. */
export function usualModes(modes: readonly string[]): string[] {
  const found = modes.filter((mode) => USUAL.includes(mode));
  return found.length > 1 ? found : modes.slice(0, 5);
}

/** Return what a metric is called. */
export function metricLabel(key: string): string {
  const known = METRICS.find((metric) => metric.key === key);
  const [name = "", cut] = key.split("@");
  return known?.label ?? `${NAMES[name] ?? name}${cut ? `@${cut}` : ""}`;
}

/** Return what is drawn of every row, and the headline metric of a set where that is another one. */
export function metricsWith(headline: string): { key: string; label: string }[] {
  const known = METRICS.some((metric) => metric.key === headline);
  return [...METRICS, ...(known ? [] : [{ key: headline, label: metricLabel(headline) }])];
}

/** What the mean of each set's own headline metric is called, where sets have different ones. */
const HEADLINE = "headline";

/** Return the metric that decides, and the means with it: that of all sets, or the mean of their own ones. */
export function headlines<T extends Figures | EvalRow>(
  sets: readonly EvalSet[],
  means: readonly T[],
): { metric: string; rows: T[] } {
  const metrics = new Set(sets.map((set) => set.metric));
  const [metric = "ndcg@10"] = metrics;
  if (metrics.size < 2) return { metric, rows: [...means] };
  const rows = means.map((mean) => {
    const values = sets.flatMap((set) => {
      const row = set.rows.find((each) => each.mode === mean.mode);
      return row?.metrics[set.metric] ?? [];
    });
    if (values.length < sets.length) return mean;
    const value = values.reduce((sum, each) => sum + each, 0) / values.length;
    return { ...mean, metrics: { ...mean.metrics, [HEADLINE]: value } };
  });
  return { metric: HEADLINE, rows };
}

/** Return a scale on which all intervals of a metric fit. */
export function scaleOf(rows: readonly Figures[], key: string): { low: number; high: number } {
  const ends = rows.flatMap((row) => row.intervals[key] ?? row.metrics[key] ?? []);
  if (!ends.length) return { low: 0, high: 1 };
  return {
    low: Math.max(0, Math.min(...ends) - 0.02),
    high: Math.min(1, Math.max(...ends) + 0.02),
  };
}
