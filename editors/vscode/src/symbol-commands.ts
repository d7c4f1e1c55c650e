import * as vscode from "vscode";
import type { CallHierarchyIncomingCall, CallHierarchyItem } from "vscode-languageclient";
import { escapeIcons } from "./icons";
import { callerResults, relatedResults, type RelatedAnswer, type ResultList } from "./results";
import type { Server } from "./server";

interface Position {
  line: number;
  character: number;
}

/** Return the symbols that are similar to the one around a line. */
export async function findSimilar(
  server: Server,
  uri: vscode.Uri,
  line: number,
): Promise<ResultList> {
  const k = vscode.workspace.getConfiguration("dowse").get("maxResults", 30);
  const params = { uri: uri.toString(), line, k };
  return relatedResults(await server.request<RelatedAnswer>("dowse/related", params));
}

/** Return what calls the symbol at a position; undefined if nobody chose one of several. */
export async function findCallers(
  server: Server,
  uri: vscode.Uri,
  { line, character }: Position,
): Promise<ResultList | undefined> {
  const items = await server.request<CallHierarchyItem[] | null>(
    "textDocument/prepareCallHierarchy",
    { textDocument: { uri: uri.toString() }, position: { line, character } },
  );
  if (!items?.length) {
    throw new Error(
      "there is no indexed symbol at the cursor; save the file, or choose another one",
    );
  }
  const item = await pickSymbol(items);
  if (!item) return undefined;
  const calls = await server.request<CallHierarchyIncomingCall[] | null>(
    "callHierarchy/incomingCalls",
    { item },
  );
  return callerResults(item, calls ?? [], (each) =>
    vscode.workspace.asRelativePath(vscode.Uri.parse(each, true)),
  );
}

/** Where only a name is known, several symbols may be meant. */
async function pickSymbol(items: CallHierarchyItem[]): Promise<CallHierarchyItem | undefined> {
  if (items.length < 2) return items[0];
  const rows = items.map((item) => ({
    label: escapeIcons(item.name),
    description: escapeIcons(item.detail ?? ""),
    item,
  }));
  return (await vscode.window.showQuickPick(rows, { title: "What calls which symbol?" }))?.item;
}
