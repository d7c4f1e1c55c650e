import type { IndexStatus, Status } from "@page/api/types";
import assert from "node:assert/strict";
import { test } from "node:test";
import { indexState } from "../src/index-state";

function status(...indexes: object[]): Status {
  const base = {
    name: "shop",
    exists: true,
    problem: "",
    files: 3,
    symbols: 1200,
    encoder: "base",
  };
  const progress = { phase: "idle", detail: "" };
  return {
    indexes: indexes.map(
      (index) => ({ ...base, embedded: 600, progress, ...index }) as IndexStatus,
    ),
  } as Status;
}

test("an index that is ready has its size and how much is embedded", () => {
  const state = indexState(status({}));
  assert.deepEqual([state.icon, state.text], ["search", "1,200 symbols"]);
  assert.deepEqual(state.details, ["shop: 3 files, 1,200 symbols, 50 % embedded"]);
});

test("one of several that is being built is said first", () => {
  const building = { name: "bank", exists: false, progress: { phase: "index", detail: "" } };
  const state = indexState(status({}, building));
  assert.deepEqual([state.icon, state.text], ["sync~spin", "indexing"]);
  assert.equal(state.details[1], "bank: not indexed yet");
});

test("what failed says why", () => {
  const failed = { progress: { phase: "failed", detail: "disk full; free some" } };
  const state = indexState(status({}, failed));
  assert.deepEqual([state.icon, state.text], ["warning", "failed"]);
  assert.equal(state.details[1], "shop: disk full; free some");
});

test("a window without a folder has no index", () => {
  assert.equal(indexState(status()).text, "no folder");
});
