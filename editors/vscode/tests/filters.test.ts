import assert from "node:assert/strict";
import { test } from "node:test";
import { describeFilters, NO_FILTERS, parseGlobs, searchParams } from "../src/filters";

test("filters that limit nothing are not sent", () => {
  assert.deepEqual(searchParams("q", 5, NO_FILTERS), { query: "q", k: 5 });
});

test("filters are sent and described", () => {
  const filters = { lang: ["go", "python"], kind: ["method"], path: ["src/**"], mode: "keyword" };
  assert.deepEqual(searchParams("q", 5, filters), { query: "q", k: 5, ...filters });
  assert.equal(describeFilters(filters), "lang:go,python kind:method path:src/** mode keyword");
  assert.equal(describeFilters(NO_FILTERS), "");
});

test("globs are separated by commas and spaces, not by commas in braces", () => {
  assert.deepEqual(parseGlobs(" src/**, *.{py,pyi}  docs/*"), ["src/**", "*.{py,pyi}", "docs/*"]);
  assert.deepEqual(parseGlobs(" , "), []);
});
