import type { Figures } from "../api/types";
import type { Shape } from "./mark";

/** What reports compare, in words. */
export interface System {
  mode: string;
  label: string;
  color: string;
  shape: Shape;
}

const SYSTEMS: readonly System[] = [
  { mode: "auto", label: "dowse", color: "var(--accent)", shape: "circle" },
  { mode: "keyword", label: "Keywords alone", color: "var(--words)", shape: "square" },
  { mode: "embedding", label: "Meaning alone", color: "var(--meaning)", shape: "triangle" },
  { mode: "fts5", label: "SQLite FTS5", color: "var(--edge)", shape: "down" },
  { mode: "ripgrep", label: "ripgrep", color: "var(--edge)", shape: "cross" },
];

/** Return what a run compares with each other, with the figures of each. */
export function systemsOf(rows: readonly Figures[]): (System & { row: Figures })[] {
  return SYSTEMS.flatMap((system) => {
    const row = rows.find((each) => each.mode === system.mode);
    return row ? [{ ...system, row }] : [];
  });
}
