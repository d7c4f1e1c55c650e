// Configurations have the colours of their lanes; others take the remaining ones in turn.
const KNOWN: Record<string, string> = {
  auto: "var(--accent)",
  hybrid: "var(--choice)",
  keyword: "var(--words)",
  embedding: "var(--meaning)",
  graph: "var(--graph)",
};
const OTHERS = ["var(--signal)", "var(--bad)", "var(--warn)", "var(--good)", "var(--edge)"];

/** Give every configuration a colour of its own, the same in all charts of a report. */
export function modeColors(modes: readonly string[]): (mode: string) => string {
  const others = modes.filter((mode) => !(mode in KNOWN));
  return (mode) => KNOWN[mode] ?? OTHERS[others.indexOf(mode) % OTHERS.length] ?? "var(--signal)";
}
