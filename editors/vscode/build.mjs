// Bundle the extension, and write the licences of everything that is in the bundle.
import { build } from "esbuild";
import { copyFile, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

const { metafile } = await build({
  entryPoints: ["src/extension.ts"],
  outfile: "dist/extension.js",
  bundle: true,
  minify: true,
  platform: "node",
  target: "node20",
  external: ["vscode"],
  metafile: true,
  logLevel: "warning",
});
const folders = Object.keys(metafile.inputs).flatMap(
  (path) => path.match(/^.*node_modules\/(?:@[^/]+\/)?[^/]+/)?.[0] ?? [],
);
await copyFile("../../LICENSE", "LICENSE"); // a package has one of its own
const parts = [await readFile("../../LICENSE", "utf8")];
for (const folder of [...new Set(folders)].sort()) {
  const names = (await readdir(folder)).filter((name) => /^licen[cs]e/i.test(name));
  if (names.length === 0) throw new Error(`${folder} has no licence`);
  const { name, version } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  parts.push(`${name} ${version}\n\n${await readFile(join(folder, names[0]), "utf8")}`);
}
await writeFile("dist/LICENSES.txt", parts.join(`\n${"-".repeat(80)}\n\n`));
