import assert from "node:assert/strict";
import { test } from "node:test";
import { callerResults, searchResults, type Hit, type SearchAnswer } from "../src/results";

const BASE = {
  kind: "function",
  signature: "def f()",
  doc: "",
  start_line: 3,
  range: null,
  confidence: null,
  explanation: [],
  matches: [],
  also_in: [],
};

function answer(...hits: object[]): SearchAnswer {
  const whole = hits.map((hit) => ({ ...BASE, ...hit }) as unknown as Hit);
  const notes = [{ code: "relaxed", text: "sring → string", remedy: "" }];
  return { query: "q", notes, hits: whole } as unknown as SearchAnswer;
}

const at = (path: string, name: string): object => ({
  path,
  uri: `file:///r/${path}`,
  qualified_name: name,
});

test("results are grouped by file in the order of the best", () => {
  const list = searchResults(answer(at("b.py", "one"), at("a.py", "two"), at("b.py", "three")));
  assert.deepEqual(
    list.groups.map((group) => [group.path, group.results.map((result) => result.name)]),
    [
      ["b.py", ["one", "three"]],
      ["a.py", ["two"]],
    ],
  );
  assert.deepEqual(list.notes, ["sring → string"]);
});

test("a result without a range opens at its first line, one without a name has its path", () => {
  const result = searchResults(answer(at("a.md", ""))).groups[0]?.results[0];
  assert.deepEqual(result?.place, { uri: "file:///r/a.md", line: 2, character: 0 });
  assert.equal(result.name, "a.md");
});

test("the addends of a score are gathered by what they come from", () => {
  const explanation = [
    { source: "embedding", value: 0.7, detail: "rank 1" },
    { source: "keyword", value: 0.25, detail: "rank 2" },
    { source: "coverage", value: 0.45, detail: "100% of the words" },
    { source: "signal.test", value: -0.1, detail: "" },
  ];
  const hit = { ...at("a.py", "f"), explanation, confidence: 0.917 };
  const result = searchResults(answer(hit)).groups[0]?.results[0];
  assert.equal(result?.certainty, "92 %");
  assert.deepEqual(result.reasons, [
    { label: "Meaning +0.70", detail: "meaning, rank 1" },
    { label: "Words +0.70", detail: "words, rank 2; share of the words, 100% of the words" },
    { label: "Signals −0.10", detail: "tests rank lower" },
  ]);
});

test("a matched line is a reason that opens at the match, counted in UTF-16", () => {
  const hit = {
    ...at("a.py", "f"),
    matches: [{ line: 9, text: '  x = "😋"; f()', spans: [[11, 12]] }],
  };
  const reason = searchResults(answer(hit)).groups[0]?.results[0]?.reasons[0];
  assert.equal(reason?.label, 'x = "😋"; f()');
  assert.deepEqual(reason.place, { uri: "file:///r/a.py", line: 8, character: 12 });
});

test("callers have a reason for each call", () => {
  const start = { line: 4, character: 8 };
  const range = { start, end: start };
  const item = {
    name: "total",
    kind: 6,
    uri: "file:///r/a.py",
    range,
    selectionRange: range,
  } as const;
  const from = { ...item, name: "pay", data: { certainty: "by name alone" } };
  const again = { line: 7, character: 2 };
  const calls = [{ from, fromRanges: [range, { start: again, end: again }] }];
  const list = callerResults(item, calls, () => "a.py");
  assert.equal(list.title, "calls of total");
  const result = list.groups[0]?.results[0];
  assert.deepEqual(
    [result?.name, result?.certainty, result?.path],
    ["pay", "by name alone", "a.py"],
  );
  assert.deepEqual(
    result?.reasons.map((reason) => [reason.label, reason.place?.line]),
    [
      ["Line 5", 4],
      ["Line 8", 7],
    ],
  );
});
