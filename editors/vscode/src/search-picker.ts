import * as vscode from "vscode";
import { describeFilters, searchParams, type Filters } from "./filters";
import { escapeIcons, iconName } from "./icons";
import { openPlace } from "./open";
import type { ResultView } from "./result-view";
import { searchResults, type Result, type ResultList, type SearchAnswer } from "./results";
import type { Server } from "./server";

// A question is sent when nothing was typed for so long (debounce).
const DEBOUNCE_MS = 200;
const WHY: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("info"),
  tooltip: "Why is this a result?",
};
const FILTER: vscode.QuickInputButton = {
  iconPath: new vscode.ThemeIcon("filter"),
  tooltip: "Filter by language, kind, path or mode",
};

type Item = vscode.QuickPickItem & { result?: Result };

/** Search while somebody types; the view has the results of the last question, too. */
export class SearchPicker {
  private readonly picker = vscode.window.createQuickPick<Item>();
  private readonly settings = vscode.workspace.getConfiguration("dowse");
  private readonly before = vscode.window.activeTextEditor;
  private timer: NodeJS.Timeout | undefined;
  private search = new vscode.CancellationTokenSource();
  private isPreviewed = false;
  private isAccepted = false;

  constructor(
    private readonly server: Server,
    private readonly view: ResultView,
    private readonly filters: Filters,
  ) {
    const { picker } = this;
    picker.placeholder = "A name, words, a question, or /a regex/";
    picker.title = ["Dowse", describeFilters(filters)].filter(Boolean).join(": ");
    picker.buttons = [FILTER];
    picker.ignoreFocusOut = true;
    // Best first: by default the editor would sort by where the typed letters are in the label.
    (picker as unknown as { sortByLabel: boolean }).sortByLabel = false;
    picker.onDidChangeValue(() => this.schedule());
    picker.onDidChangeActive(([item]) => void this.preview(item));
    picker.onDidAccept(() => void this.accept(picker.activeItems[0]?.result));
    picker.onDidTriggerItemButton(({ item }) => void this.explain(item.result));
    picker.onDidTriggerButton(
      () => void vscode.commands.executeCommand("dowse.filter", picker.value),
    );
    picker.onDidHide(() => void this.close());
  }

  /** Open it with a question. */
  show(query: string): void {
    this.picker.value = query;
    this.picker.show();
    if (query) void this.run();
  }

  private schedule(): void {
    clearTimeout(this.timer);
    this.search.cancel();
    this.timer = setTimeout(() => void this.run(), DEBOUNCE_MS);
  }

  private async run(): Promise<void> {
    const query = this.picker.value.trim();
    this.search = new vscode.CancellationTokenSource();
    const { token } = this.search;
    if (!query) {
      this.picker.items = [];
      return;
    }
    this.picker.busy = true;
    try {
      const params = searchParams(query, this.settings.get("maxResults", 30), this.filters);
      const answer = await this.server.request<SearchAnswer>("dowse/search", params, token);
      if (!token.isCancellationRequested) this.list(searchResults(answer));
    } catch (error) {
      if (!token.isCancellationRequested) this.picker.items = [problemItem(error)];
    } finally {
      if (!token.isCancellationRequested) this.picker.busy = false;
    }
  }

  private list(list: ResultList): void {
    this.view.show(list, describeFilters(this.filters));
    const items = list.groups.flatMap(({ path, results }) => [
      { label: path, kind: vscode.QuickPickItemKind.Separator },
      ...results.map(resultItem),
    ]);
    const nothing = { label: "Nothing found", detail: list.notes.join(" "), alwaysShow: true };
    this.picker.items = items.length > 0 ? items : [nothing];
  }

  private async preview(item: Item | undefined): Promise<void> {
    if (!item?.result || !this.settings.get("preview", true)) return;
    this.isPreviewed = true;
    await openPlace(item.result.place, true).catch(showError);
  }

  private async accept(result: Result | undefined): Promise<void> {
    if (!result) return;
    this.isAccepted = true;
    this.picker.hide();
    await openPlace(result.place, false).catch(showError);
  }

  private async explain(result: Result | undefined): Promise<void> {
    if (!result) return;
    this.isAccepted = true;
    this.picker.hide();
    await this.view.explain(result);
  }

  private async close(): Promise<void> {
    clearTimeout(this.timer);
    this.search.cancel();
    this.picker.dispose();
    if (!this.isPreviewed || this.isAccepted || !this.before) return;
    const { document, viewColumn, selection } = this.before;
    const column = viewColumn ?? vscode.ViewColumn.Active;
    await vscode.window.showTextDocument(document, { viewColumn: column, selection });
  }
}

/** Show an error to somebody who asked for something. */
export function showError(error: unknown): void {
  void vscode.window.showErrorMessage(`dowse: ${messageOf(error)}`);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

function problemItem(error: unknown): Item {
  return {
    label: "$(warning) The search failed",
    detail: escapeIcons(messageOf(error)),
    alwaysShow: true,
  };
}

function resultItem(result: Result): Item {
  return {
    label: `$(${iconName(result.kind)}) ${escapeIcons(result.name)}`,
    description: [`line ${result.place.line + 1}`, result.certainty].filter(Boolean).join(" · "),
    detail: escapeIcons(result.summary || result.doc.split("\n", 1).join("")),
    alwaysShow: true,
    buttons: [WHY],
    result,
  };
}
