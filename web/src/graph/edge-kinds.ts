interface EdgeKind {
  label: string;
  color: string;
  /** Its arrowhead, from (0, 0) to (8, 8), pointing right: kinds are told apart without colours, too. */
  head: string;
  hollow?: boolean;
}

/** What references are called, and how they are drawn; the heads are those of UML where it has one. */
export const EDGE_KINDS: Record<string, EdgeKind> = {
  calls: { label: "Calls", color: "var(--graph)", head: "M0 .5 7 4 0 7.5z" },
  uses: { label: "Uses", color: "var(--signal)", head: "M.5 4a3 3 0 1 0 6 0a3 3 0 1 0-6 0z" },
  extends: { label: "Extends", color: "var(--meaning)", head: "M.7 1 7 4 .7 7z", hollow: true },
  implements: {
    label: "Implements",
    color: "var(--meaning)",
    head: "M.5 4 3.75 1 7 4 3.75 7z",
    hollow: true,
  },
  overrides: { label: "Overrides", color: "var(--choice)", head: "M.5 4 3.75 1 7 4 3.75 7z" },
  imports: { label: "Imports", color: "var(--words)", head: "M1 1.500h5v5h-5z" },
};
