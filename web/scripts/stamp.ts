import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

// All that the built page depends on; tests/web/test_build.py names the same.
const SOURCES = [
  "index.html",
  "openapi.json",
  "package-lock.json",
  "package.json",
  "public",
  "scripts",
  "src",
  "tsconfig.json",
  "vite.config.ts",
];

/** Return one hash of every source file, by path and content. */
export function sourcesHash(root: string): string {
  const whole = createHash("sha256");
  for (const path of SOURCES.flatMap((name) => files(root, name)).sort()) {
    const content = createHash("sha256")
      .update(readFileSync(join(root, path)))
      .digest("hex");
    whole.update(`${path} ${content}\n`);
  }
  return whole.digest("hex");
}

function files(root: string, path: string): string[] {
  if (!statSync(join(root, path)).isDirectory()) return [path];
  return readdirSync(join(root, path)).flatMap((name) => files(root, `${path}/${name}`));
}
