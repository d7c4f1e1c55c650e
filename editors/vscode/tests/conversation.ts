// Ask a real `dowse lsp` what the extension asks, and print the results as JSON (tests/interfaces/lsp/test_vscode.py).
import type { Status } from "@page/api/types";
import { spawn } from "node:child_process";
import { pathToFileURL } from "node:url";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type CallHierarchyIncomingCall,
  type CallHierarchyItem,
} from "vscode-languageserver-protocol/node";
import { MODES, NO_FILTERS, searchParams } from "../src/filters";
import { indexState } from "../src/index-state";
import * as results from "../src/results";

async function main(folder: string, command: string, ...args: string[]): Promise<void> {
  const server = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  const ask = <T>(method: string, params: object): Promise<T> =>
    connection.sendRequest(method, params);
  const uri = pathToFileURL(folder).toString();
  connection.listen();
  await ask("initialize", {
    processId: process.pid,
    capabilities: {},
    workspaceFolders: [{ uri, name: "shop" }],
    initializationOptions: { codeLensCommand: "dowse.showCallers" },
  });
  await connection.sendNotification("initialized", {});

  const search = async (query: string, filters = NO_FILTERS): Promise<results.ResultList> =>
    results.searchResults(await ask("dowse/search", searchParams(query, 5, filters)));
  const modes: Record<string, number> = {};
  for (const mode of Object.keys(MODES)) {
    modes[mode] = (await search("checkout", { ...NO_FILTERS, mode })).groups.length;
  }
  const document = `${uri}/shop/prices.py`;
  const [item] = await ask<CallHierarchyItem[]>("textDocument/prepareCallHierarchy", {
    textDocument: { uri: document },
    position: { line: 0, character: 4 },
  });
  if (!item) throw new Error("there is no symbol at the position");
  const calls = await ask<CallHierarchyIncomingCall[]>("callHierarchy/incomingCalls", { item });
  const related = await ask<results.RelatedAnswer>("dowse/related", {
    uri: document,
    line: 0,
    k: 3,
  });
  const found = {
    question: await search("what does an item cost"),
    filtered: await search("page", {
      lang: ["typescript"],
      kind: [],
      path: ["web/*"],
      mode: "auto",
    }),
    regex: await search("/lookup\\(/"),
    modes,
    callers: results.callerResults(item, calls, (each) => each.slice(uri.length + 1)),
    related: results.relatedResults(related),
    state: indexState(await ask<Status>("dowse/status", {})),
  };
  await ask("shutdown", {});
  await connection.sendNotification("exit");
  console.log(JSON.stringify(found));
}

const [folder = "", command = "", ...args] = process.argv.slice(2);
void main(folder, command, ...args);
