export interface Filter {
  /** As it stands in the query, with its `-`. */
  text: string;
  name: string;
  value: string;
  negated: boolean;
}

const NAMES = "lang|path|kind|repo|sym|case";
// Phrases and patterns are left alone: what looks like a filter inside them is none.
const TOKENS = new RegExp(
  String.raw`"[^"]*"|\/(?:[^\/\\\n]|\\.)+\/i?(?=\s|$)|(?<=^|\s)(-?)(${NAMES}):("[^"]*"|\S+)`,
  "g",
);

/** Return the filters of a query, in their order. */
export function filtersOf(query: string): Filter[] {
  const found: Filter[] = [];
  for (const match of query.matchAll(TOKENS)) {
    const [text, minus, name, value] = match;
    if (name && value) found.push({ text, name, value, negated: minus === "-" });
  }
  return found;
}

/** Return the query without one of its filters. */
export function withoutFilter(query: string, text: string): string {
  let done = false;
  const rest = query.replace(TOKENS, (token) => {
    if (done || token !== text) return token;
    done = true;
    return "";
  });
  return rest.replace(/\s{2,}/g, " ").trim();
}

/** Return the query with one more filter. */
export function withFilter(query: string, name: string, value: string): string {
  const text = `${name}:${/\s/.test(value) ? `"${value}"` : value}`;
  if (filtersOf(query).some((filter) => filter.text === text)) return query;
  return `${query.trim()} ${text}`.trim();
}

// Words that questions are made of, and that say nothing about code.
const FILLERS = new Set(
  (
    "all and are can does for from has have how into its not one out that the their them they this was what " +
    "when where which who why will with"
  ).split(" "),
);

/** Return the words of a query that code could contain, without filters and signs. */
export function wordsOf(query: string): string[] {
  const bare = query.replace(TOKENS, " ").toLowerCase();
  const words = bare.match(/[\p{L}\p{N}_]{3,}/gu) ?? [];
  return [...new Set(words)].filter((word) => !FILLERS.has(word));
}
