/** The modes of a search, with what each does. */
export const MODES: Readonly<Record<string, string>> = {
  auto: "chosen by the question",
  hybrid: "words and meaning",
  keyword: "words (BM25)",
  tfidf: "rare words (TF-IDF)",
  embedding: "meaning",
  graph: "the call graph",
  regex: "lines that match a regular expression",
  symbol: "names",
};

/** What limits a search; an empty list or "auto" limits nothing. */
export interface Filters {
  lang: readonly string[];
  kind: readonly string[];
  path: readonly string[];
  mode: string;
}

export const NO_FILTERS: Filters = { lang: [], kind: [], path: [], mode: "auto" };

/** Return the parameters of `dowse/search`; filters that limit nothing are left out. */
export function searchParams(query: string, k: number, filters: Filters): Record<string, unknown> {
  const params: Record<string, unknown> = { query, k };
  for (const name of ["lang", "kind", "path"] as const) {
    if (filters[name].length > 0) params[name] = [...filters[name]];
  }
  if (filters.mode !== "auto") params.mode = filters.mode;
  return params;
}

/** Say what limits a search, in the spelling of the query language; "" for nothing. */
export function describeFilters(filters: Filters): string {
  const parts = (["lang", "kind", "path"] as const)
    .filter((name) => filters[name].length > 0)
    .map((name) => `${name}:${filters[name].join(",")}`);
  if (filters.mode !== "auto") parts.push(`mode ${filters.mode}`);
  return parts.join(" ");
}

/** Return the globs in a text, separated by commas or spaces; commas in braces separate nothing. */
export function parseGlobs(text: string): string[] {
  return text.match(/(?:\{[^}]*\}|[^\s,])+/g) ?? [];
}
