import assert from "node:assert/strict";
import { test } from "node:test";
import { escapeIcons } from "../src/icons";

test("names of a repository show no icons", () => {
  assert.equal(escapeIcons("$(verified) sh $(id)"), "\\$(verified) sh \\$(id)");
});
