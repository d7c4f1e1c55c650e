import type { Transport } from "../../api/client";
import type {
  EvalCase,
  EvalReport,
  EvalRow,
  EvalSet,
  EvalSummary,
  TableNotes,
} from "../../api/types";
import { flat } from "./about";

type SavedRow = EvalRow & { ids?: string[]; values: Record<string, number[]> };

interface SavedCase {
  id: string;
  query?: string;
  found?: string[];
  relevant?: string[];
}

interface SavedSet {
  dataset: EvalSet;
  against: string;
  ids: string[];
  rows: SavedRow[];
  worst: { mode?: string; cases?: SavedCase[] };
}

/** A report as `dowse eval --html` puts it into the page. */
export interface SavedReport {
  /** As in docs/report.schema.json. */
  report: { about: EvalReport["about"]; sets: SavedSet[]; means: EvalRow[] };
  /** What the tables of the sets say in words. */
  tables: TableNotes[];
  mean: (TableNotes & { differences: Record<string, EvalRow["difference"]> }) | null;
}

/** Where the only report of a file is found; there is no server that could name others. */
const ID = "file";

/** Answer what the evaluation page asks of the API from a report that is at hand. */
export function reportTransport(saved: SavedReport): Transport {
  return (address) => {
    const { pathname, searchParams } = new URL(address, "http://localhost");
    const answer = pathname.endsWith("/cases") ? casesOf(saved, searchParams) : reportOf(saved);
    return Promise.resolve(new Response(JSON.stringify(answer)));
  };
}

/** The report in short. */
export function summaryOf({ report, mean }: SavedReport): EvalSummary {
  const { about, sets } = report;
  const text = (name: string) => flat(about[name]);
  const means = report.means.map((row) => {
    const mode = row.mode.replace(/^mean:/, "");
    return { ...row, mode, difference: mean?.differences[mode] ?? null };
  });
  return {
    id: ID,
    name: "report",
    source: "own",
    date: text("date"),
    commit: text("commit"),
    encoder: text("encoder"),
    machine: text("machine"),
    sets: sets.map((set) => set.dataset.name),
    modes: [...new Set(sets.flatMap((set) => set.rows.map((row) => row.mode)))],
    cases: sets.reduce((sum, set) => sum + set.dataset.cases, 0),
    against: sets[0] ? baseline(sets[0]) : "",
    means: means.length ? means : (sets[0]?.rows ?? []),
  };
}

function reportOf(saved: SavedReport): EvalReport {
  const { about, sets } = saved.report;
  return {
    summary: summaryOf(saved),
    about,
    ...(saved.mean && { mean: saved.mean }),
    sets: sets.map((set, number) => {
      const table = saved.tables[number];
      return {
        ...set.dataset,
        // What a table says of itself repeats these notes.
        notes: table ? [] : set.dataset.notes,
        against: baseline(set),
        best: "",
        rows: set.rows,
        ...(table && { table }),
        ...(set.worst.mode && { told: set.worst.mode }),
      };
    }),
  };
}

function baseline(set: SavedSet): string {
  return set.against || (set.rows[0]?.mode ?? "");
}

/** The questions of one row beside those of another, in the order that is asked for. */
function casesOf(saved: SavedReport, params: URLSearchParams) {
  const { sets } = saved.report;
  const set = sets.find((each) => each.dataset.name === params.get("set")) ?? sets[0];
  const mode = params.get("mode") ?? "";
  const metric = set?.dataset.metric ?? "";
  const other = new Map(read(set, params.get("other_mode") ?? "", metric).map((c) => [c.id, c]));
  const cases = read(set, mode, metric).map((one) => ({
    ...one,
    other: other.get(one.id) ?? null,
  }));
  const gain = (one: EvalCase) => (one.other?.value == null ? 0 : one.value - one.other.value);
  const orders: Record<string, (one: EvalCase) => number> = {
    best: (one) => -one.value,
    lost: gain,
    won: (one) => -gain(one),
  };
  const key = orders[params.get("order") ?? ""] ?? ((one: EvalCase) => one.value);
  // Of equals those first whose text is known: the others say nothing but their ids.
  cases.sort((a, b) => key(a) - key(b) || +!a.query - +!b.query || (a.id < b.id ? -1 : 1));
  const k = Number(params.get("k"));
  const facts = { report: ID, set: set?.dataset.name ?? "", mode, metric, metrics: [metric] };
  return {
    ...facts,
    total: cases.length,
    offset: 0,
    more: cases.length > k,
    cases: cases.slice(0, k),
  };
}

function read(set: SavedSet | undefined, mode: string, metric: string): EvalCase[] {
  const row = set?.rows.find((each) => each.mode === mode);
  const values = row?.values[metric];
  if (!set || !row || !values) return [];
  const told = set.worst.mode === mode ? (set.worst.cases ?? []) : [];
  const known = new Map(told.map((one) => [one.id, one]));
  return (row.ids ?? set.ids).map((id, number) => {
    const one = known.get(id);
    const reciprocal = row.values["mrr@100"]?.[number] ?? 0;
    return {
      id,
      query: one?.query ?? "",
      value: values[number] ?? 0,
      values: {},
      rank: reciprocal > 0 ? Math.round(1 / reciprocal) : null,
      found: one?.found ?? [],
      relevant: one?.relevant ?? [],
      other: null,
    };
  });
}
