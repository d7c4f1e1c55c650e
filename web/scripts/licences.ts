import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

interface Manifest {
  name: string;
  version: string;
  license?: string;
  dependencies?: Record<string, string>;
}

/** Return the licence of every package that ends up in the page, as these licences ask for. */
export function licences(root: string): string {
  const seen = new Map<string, string>();
  collect(root, manifest(join(root, "package.json")), seen);
  return [...seen.values()].join("\n\n" + "=".repeat(78) + "\n\n") + "\n";
}

function collect(root: string, from: Manifest, seen: Map<string, string>): void {
  for (const name of Object.keys(from.dependencies ?? {}).sort()) {
    if (seen.has(name)) continue;
    const folder = join(root, "node_modules", name);
    const about = manifest(join(folder, "package.json"));
    seen.set(name, `${about.name} ${about.version} (${about.license ?? "?"})\n\n${text(folder)}`);
    collect(root, about, seen);
  }
}

function manifest(path: string): Manifest {
  return JSON.parse(readFileSync(path, "utf8")) as Manifest;
}

function text(folder: string): string {
  const file = readdirSync(folder).find((name) => /^licen[cs]e/i.test(name));
  const path = file && join(folder, file);
  return path && existsSync(path) ? readFileSync(path, "utf8").trim() : "";
}
