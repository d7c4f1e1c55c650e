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
// Lines before and after that of a call.
const AROUND = 2;
const OWN_REFERENCE =
  /^(?:calls|uses|extends|implements|overrides|imports|mentions) .* in line (\d+)/;

/** Choose what of a hit's code is shown: lines that match a pattern, or that of a call; else how it begins. */
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
  const call = callLine(hit);
  if (call && !whole) {
    const last = Math.min(lines.length, call - hit.start_line + AROUND + 1);
    const from = Math.max(1, call - hit.start_line - AROUND);
    const head = Math.min(Math.max(0, lines.findIndex(isNoDecorator)), from - 1);
    const rows = [head, ...Array.from({ length: last - from }, (_, row) => from + row)];
    return {
      code: rows.map((row) => lines[row]).join("\n"),
      numbers: rows.map((row) => hit.start_line + row),
      marked: new Set([call]),
      hidden: lines.length - rows.length,
    };
  }
  const count = whole || lines.length <= SHORT + SPARE ? lines.length : SHORT;
  const known = isComplete(hit);
  return {
    code: lines.slice(0, count).join("\n"),
    numbers: Array.from({ length: count }, (_, row) =>
      known || row === 0 ? hit.start_line + row : 0,
    ),
    marked: known ? marked : new Set(),
    hidden: lines.length - count,
  };
}

/** The line of a hit in which it refers to what was asked about; 0 where that is elsewhere, or not the reason. */
function callLine(hit: Hit): number {
  // Of what is called, the line is in the caller, which then is named first.
  const line = Number(OWN_REFERENCE.exec(reference(hit))?.[1] ?? 0);
  return hit.start_line < line && line <= hit.end_line && isComplete(hit) ? line : 0;
}

function isNoDecorator(line: string): boolean {
  return !/^\s*(@|#\[)/.test(line);
}

/** What the call graph says of a hit: "calls Cart.add in line 12"; "" where it was found otherwise. */
export function reference(hit: Hit): string {
  return hit.lanes.find((lane) => lane.lane === "graph")?.detail.replace(", resolved", "") ?? "";
}

/** A class comes without its methods: then nobody knows which line is which. */
function isComplete(hit: Hit): boolean {
  return hit.code.replace(/\n$/, "").split("\n").length === hit.end_line - hit.start_line + 1;
}
