import type { IndexStatus, Status } from "@page/api/types";
import { count, percent, plural } from "@page/lib/format";

/** The state of all indexes, as a status bar shows it. */
export interface IndexState {
  icon: "search" | "sync~spin" | "warning";
  text: string;
  details: string[]; // one line for each index
}

/** Return what a status bar says of the indexes of a workspace. */
export function indexState(status: Status): IndexState {
  const { indexes } = status;
  const details = indexes.map(describeIndex);
  if (indexes.length === 0) return { icon: "warning", text: "no folder", details };
  if (indexes.some((index) => failure(index))) return { icon: "warning", text: "failed", details };
  // Updates of an index that exists are short, or reported as progress.
  if (indexes.some((index) => !index.exists))
    return { icon: "sync~spin", text: "indexing", details };
  const symbols = indexes.reduce((sum, index) => sum + index.symbols, 0);
  return { icon: "search", text: plural(symbols, "symbol"), details };
}

function failure(index: IndexStatus): string {
  return index.problem || (index.progress.phase === "failed" ? index.progress.detail : "");
}

function describeIndex(index: IndexStatus): string {
  const problem = failure(index);
  if (problem) return `${index.name}: ${problem}`;
  if (!index.exists) return `${index.name}: not indexed yet`;
  const embedded = index.encoder
    ? `, ${percent(index.embedded / Math.max(1, index.symbols))} embedded`
    : ", no embeddings";
  return `${index.name}: ${plural(index.files, "file")}, ${count(index.symbols)} symbols${embedded}`;
}
