/** What references are called, and how they are drawn. */
export const EDGE_KINDS: Record<string, { label: string; color: string }> = {
  calls: { label: "Calls", color: "var(--graph)" },
  uses: { label: "Uses", color: "var(--signal)" },
  extends: { label: "Extends", color: "var(--meaning)" },
  implements: { label: "Implements", color: "var(--meaning)" },
  overrides: { label: "Overrides", color: "var(--choice)" },
  imports: { label: "Imports", color: "var(--words)" },
};
