import assert from "node:assert/strict";
import { test } from "node:test";
import { serverCommand } from "../src/server-command";

test("a name or an absolute path is a command", () => {
  assert.equal(serverCommand(" dowse "), "dowse");
  assert.equal(serverCommand("/opt/dowse/bin/dowse"), "/opt/dowse/bin/dowse");
});

test("a path inside of a workspace is none", () => {
  for (const path of ["./dowse", "bin/dowse", "..\\dowse", ""]) {
    assert.throws(() => serverCommand(path), /dowse\.path/);
  }
});
