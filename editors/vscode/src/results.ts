import type { Hit as ApiHit, SearchAnswer as ApiAnswer } from "@page/api/types";
import { percent, signed } from "@page/lib/format";
import { grouped, partLabel } from "@page/lib/lanes";
import type { CallHierarchyIncomingCall, CallHierarchyItem, Range } from "vscode-languageclient";

/** A hit as the language server sends it; what opens it is added to that of the HTTP API. */
export type Hit = ApiHit & { uri: string; range: Range | null };
export type SearchAnswer = Omit<ApiAnswer, "hits"> & { hits: Hit[] };
export interface RelatedAnswer {
  symbol: { name: string; qualified_name: string };
  neighbours: Hit[];
}

/** A position in a file; lines and characters count from 0. */
export interface Place {
  uri: string;
  line: number;
  character: number;
}

/** One line of why something is a result; it may have a place of its own. */
export interface Reason {
  label: string;
  detail: string;
  place?: Place;
}

export interface Result {
  name: string;
  kind: string;
  path: string;
  place: Place;
  certainty: string; // "92 %", or how certain a call is; "" if not known
  summary: string; // the signature, or the first matched line
  doc: string;
  reasons: Reason[];
}

export interface FileGroup {
  path: string;
  uri: string;
  results: Result[];
}

export interface ResultList {
  title: string;
  notes: string[];
  groups: FileGroup[];
}

/** Return the results of a search. */
export function searchResults(answer: SearchAnswer): ResultList {
  return list(answer.query, answer.notes, answer.hits.map(hitResult));
}

/** Return the symbols that are similar to one. */
export function relatedResults(answer: RelatedAnswer): ResultList {
  const name = answer.symbol.qualified_name || answer.symbol.name;
  return list(`similar to ${name}`, [], answer.neighbours.map(hitResult));
}

/** Return the callers of a symbol; `relative` makes a path of a URI. */
export function callerResults(
  item: CallHierarchyItem,
  calls: readonly CallHierarchyIncomingCall[],
  relative: (uri: string) => string,
): ResultList {
  const results = calls.map((call) => callResult(call, relative));
  return list(`calls of ${item.name}`, [], results);
}

/** Group results by file; files come in the order of their best result. */
export function groupByFile(results: readonly Result[]): FileGroup[] {
  const groups = new Map<string, FileGroup>();
  for (const result of results) {
    const { uri } = result.place;
    const group = groups.get(uri) ?? { path: result.path, uri, results: [] };
    group.results.push(result);
    groups.set(uri, group);
  }
  return [...groups.values()];
}

function list(title: string, notes: readonly { text: string }[], results: Result[]): ResultList {
  return { title, notes: notes.map((note) => note.text), groups: groupByFile(results) };
}

function hitResult(hit: Hit): Result {
  const start = hit.range?.start ?? { line: hit.start_line - 1, character: 0 };
  return {
    name: hit.qualified_name || hit.path,
    kind: hit.kind,
    path: hit.path,
    place: { uri: hit.uri, ...start },
    certainty: hit.confidence === null ? "" : percent(hit.confidence),
    summary: hit.matches[0]?.text.trim() ?? hit.signature,
    doc: hit.doc,
    reasons: [...matchReasons(hit), ...scoreReasons(hit), ...copyReasons(hit)],
  };
}

function matchReasons(hit: Hit): Reason[] {
  return hit.matches.map(({ line, text, spans }) => ({
    label: text.trim(),
    detail: `line ${line}`,
    // Spans count characters, editors code units of UTF-16.
    place: {
      uri: hit.uri,
      line: line - 1,
      character: [...text].slice(0, spans[0]?.[0] ?? 0).join("").length,
    },
  }));
}

function scoreReasons(hit: Hit): Reason[] {
  return grouped(hit.explanation).map((family) => ({
    label: `${family.label} ${signed(family.value, 2)}`,
    detail: family.parts
      .map((part) => [partLabel(part), part.detail].filter(Boolean).join(", "))
      .join("; "),
  }));
}

function copyReasons(hit: Hit): Reason[] {
  return hit.also_in.map(({ path, line }) => ({ label: "Also in", detail: `${path}:${line}` }));
}

function callResult(call: CallHierarchyIncomingCall, relative: (uri: string) => string): Result {
  const { from } = call;
  const { certainty } = { certainty: "", ...(from.data as { certainty?: string } | undefined) };
  const places = call.fromRanges.map(({ start }) => ({ uri: from.uri, ...start }));
  return {
    name: from.name,
    kind: "",
    path: relative(from.uri),
    place: places[0] ?? { uri: from.uri, ...from.selectionRange.start },
    certainty,
    summary: from.detail ?? "",
    doc: "",
    reasons: places.map((place) => ({
      label: `Line ${place.line + 1}`,
      detail: certainty,
      place,
    })),
  };
}
