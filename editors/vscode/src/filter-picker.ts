import type { Status } from "@page/api/types";
import * as vscode from "vscode";
import { MODES, NO_FILTERS, parseGlobs, type Filters } from "./filters";

type Row = vscode.QuickPickItem & { pick: () => Promise<Partial<Filters> | undefined> };

/** Have somebody change one filter; undefined if nothing was chosen. */
export async function pickFilters(filters: Filters, status: Status): Promise<Filters | undefined> {
  const languages = status.indexes.flatMap((index) => index.languages.map((each) => each.language));
  const kinds = status.indexes.flatMap((index) => index.kinds);
  const rows: Row[] = [
    row("Language", filters.lang, async () => {
      const lang = await pickSeveral("Languages", languages, filters.lang);
      return lang && { lang };
    }),
    row("Kind", filters.kind, async () => {
      const kind = await pickSeveral("Kinds of symbols", kinds, filters.kind);
      return kind && { kind };
    }),
    row("Path", filters.path, async () => {
      const path = await pickPaths(filters.path);
      return path && { path };
    }),
    row("Mode", [filters.mode], async () => {
      const mode = await pickMode(filters.mode);
      return mode ? { mode } : undefined;
    }),
    { label: "Clear all filters", pick: () => Promise.resolve(NO_FILTERS) },
  ];
  const chosen = await vscode.window.showQuickPick(rows, { title: "Dowse: filter results by" });
  const change = await chosen?.pick();
  return change && { ...filters, ...change };
}

function row(label: string, values: readonly string[], pick: Row["pick"]): Row {
  return { label, description: values.join(", ") || "any", pick };
}

async function pickSeveral(
  title: string,
  names: readonly string[],
  picked: readonly string[],
): Promise<string[] | undefined> {
  const items = [...new Set(names)].map((label) => ({ label, picked: picked.includes(label) }));
  const chosen = await vscode.window.showQuickPick(items, { title, canPickMany: true });
  return chosen?.map((item) => item.label);
}

async function pickPaths(paths: readonly string[]): Promise<string[] | undefined> {
  const text = await vscode.window.showInputBox({
    title: "Paths",
    prompt: "Globs, separated by commas, e.g. src/**, *.py; empty for any",
    value: paths.join(", "),
  });
  return text === undefined ? undefined : parseGlobs(text);
}

async function pickMode(current: string): Promise<string | undefined> {
  const items = Object.entries(MODES).map(([label, detail]) => ({
    label,
    description: label === current ? `${detail} (current)` : detail,
  }));
  return (await vscode.window.showQuickPick(items, { title: "Mode" }))?.label;
}
