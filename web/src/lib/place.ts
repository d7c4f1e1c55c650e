interface Located {
  path: string;
  start_line: number;
}

/** path:line, as editors and terminals take it. */
export function place(symbol: Located): string {
  return `${symbol.path}:${symbol.start_line}`;
}

/** The same with its repository in front. */
export function placeInRepo(symbol: Located & { repo: string }): string {
  return symbol.repo ? `${symbol.repo} ${place(symbol)}` : place(symbol);
}

/** A link that opens a line in the editor; "" where the files are not known. */
export function editorLink(root: string, path: string, line: number): string {
  if (!root) return "";
  const file = `${root}/${path}`.split("/").map(encodeURIComponent).join("/");
  return `vscode://file${file}:${line}`;
}
