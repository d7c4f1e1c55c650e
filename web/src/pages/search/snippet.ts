import type { Hit } from "../../api/types";

export interface Snippet {
  code: string;
  numbers: number[];
  marked: Set<number>;
  hidden: number;
}

const SHORT = 8;
// Hiding one or two lines only costs a click.
const SPARE = 2;

/** Choose what of a hit's code is shown: lines that match a pattern, else how it begins. */
export function snippet(hit: Hit, whole: boolean): Snippet {
  const marked = new Set(hit.matches.map((match) => match.line));
  const lines = hit.code.replace(/\n$/, "").split("\n");
  if (marked.size && !whole) {
    const first = hit.matches.slice(0, SHORT);
    return {
      code: first.map((match) => match.text).join("\n"),
      numbers: first.map((match) => match.line),
      marked: new Set(),
      hidden: Math.max(0, lines.length - first.length),
    };
  }
  const count = whole || lines.length <= SHORT + SPARE ? lines.length : SHORT;
  // A class comes without its methods: then nobody knows which line is which.
  const known = lines.length === hit.end_line - hit.start_line + 1;
  return {
    code: lines.slice(0, count).join("\n"),
    numbers: Array.from({ length: count }, (_, row) =>
      known || row === 0 ? hit.start_line + row : 0,
    ),
    marked: known ? marked : new Set(),
    hidden: lines.length - count,
  };
}
