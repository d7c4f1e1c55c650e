import type { Figures } from "../../api/types";

/** What is shown of every row. */
export const METRICS = [
  { key: "mrr@100", label: "MRR" },
  { key: "ndcg@10", label: "nDCG@10" },
  { key: "recall@10", label: "Recall@10" },
] as const;

// Those that the search page has a switch for; others can be added by hand.
// The graph alone answers only questions of structure, of which few sets have any.
const USUAL = ["keyword", "embedding", "hybrid", "auto"];

/** Return the ways of searching that are shown at first. */
export function usualModes(modes: readonly string[]): string[] {
  const found = modes.filter((mode) => USUAL.includes(mode));
  return found.length > 1 ? found : modes.slice(0, 5);
}

/** Return what a metric is called. */
export function metricLabel(key: string): string {
  return METRICS.find((metric) => metric.key === key)?.label ?? key;
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
