import type { Status } from "@page/api/types";
import * as vscode from "vscode";
import { pickFilters } from "./filter-picker";
import { NO_FILTERS } from "./filters";
import { openPlace } from "./open";
import { ResultView } from "./result-view";
import type { Place, ResultList } from "./results";
import { SearchPicker, showError } from "./search-picker";
import { Server } from "./server";
import { StatusBar } from "./status-bar";
import { findCallers, findSimilar } from "./symbol-commands";

/** Register everything and start the server: the view is shown, or a command was run. */
export function activate(context: vscode.ExtensionContext): void {
  const server = new Server();
  const view = new ResultView();
  const bar = new StatusBar(server);
  let filters = NO_FILTERS;

  const start = async (): Promise<void> => {
    await server.start();
    await bar.update();
  };
  const show = async (find: () => Promise<ResultList | undefined>): Promise<void> => {
    await start();
    const list = await vscode.window.withProgress({ location: { viewId: "dowse.results" } }, find);
    if (!list) return;
    view.show(list);
    await view.focus();
  };
  const search = (query?: unknown): void => {
    const text = typeof query === "string" ? query : selectedText();
    new SearchPicker(server, view, filters).show(text);
    void bar.update();
  };
  const showCallers = (uri: string, position: vscode.Position): Promise<void> =>
    show(() => findCallers(server, vscode.Uri.parse(uri, true), position));

  const commands: Record<string, (...args: never[]) => unknown> = {
    "dowse.search": search,
    "dowse.filter": async (query?: unknown) => {
      const changed = await pickFilters(filters, await server.request<Status>("dowse/status", {}));
      filters = changed ?? filters;
      search(typeof query === "string" ? query : "");
    },
    "dowse.findSimilar": () => {
      const { document, selection } = activeEditor();
      return show(() => findSimilar(server, document.uri, selection.active.line));
    },
    "dowse.whatCallsThis": () => {
      const { document, selection } = activeEditor();
      return showCallers(document.uri.toString(), selection.active);
    },
    "dowse.showCallers": showCallers,
    "dowse.open": (place: Place) => openPlace(place, true),
    "dowse.clear": () => view.show(undefined),
    "dowse.restart": async () => {
      await server.stop();
      await start();
    },
  };
  for (const [name, run] of Object.entries(commands)) {
    context.subscriptions.push(vscode.commands.registerCommand(name, reporting(run)));
  }
  const configured = vscode.workspace.onDidChangeConfiguration((event) => {
    const isServers = ["dowse.path", "dowse.features", "dowse.statusBar"].some((name) =>
      event.affectsConfiguration(name),
    );
    if (isServers && server.isStarted) void vscode.commands.executeCommand("dowse.restart");
  });
  context.subscriptions.push(configured, bar, view, server);
  if (vscode.workspace.workspaceFolders) void start().catch(showError);
}

/** Run a command; what goes wrong is shown. */
function reporting(run: (...args: never[]) => unknown): (...args: never[]) => Promise<void> {
  return async (...args) => {
    try {
      await run(...args);
    } catch (error) {
      showError(error);
    }
  };
}

function activeEditor(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor;
  if (!editor) throw new Error("there is no open file; open one, and place the cursor on a symbol");
  return editor;
}

/** Return what is selected on one line, as a first question. */
function selectedText(): string {
  const editor = vscode.window.activeTextEditor;
  return editor?.selection.isSingleLine ? editor.document.getText(editor.selection) : "";
}
