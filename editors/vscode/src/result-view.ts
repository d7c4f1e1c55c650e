import { plural } from "@page/lib/format";
import * as vscode from "vscode";
import { iconName } from "./icons";
import type { FileGroup, Reason, Result, ResultList } from "./results";

type FileNode = { type: "file"; group: FileGroup };
type ResultNode = { type: "result"; result: Result; file: FileNode };
type Node = FileNode | ResultNode | { type: "reason"; reason: Reason; result: ResultNode };

/** The view of results: files, their results, and why each is one. */
export class ResultView implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly changed = new vscode.EventEmitter<void>();
  private readonly view: vscode.TreeView<Node>;
  private files: FileNode[] = [];
  private nodes = new Map<Result, ResultNode>();
  readonly onDidChangeTreeData = this.changed.event;

  constructor() {
    this.view = vscode.window.createTreeView("dowse.results", {
      treeDataProvider: this,
      showCollapseAll: true,
    });
  }

  /** Show other results; `filters` says what limited them. */
  show(list: ResultList | undefined, filters = ""): void {
    this.files = (list?.groups ?? []).map((group) => ({ type: "file", group }));
    this.nodes = new Map(
      this.files.flatMap((file) =>
        file.group.results.map((result) => [result, { type: "result", result, file }]),
      ),
    );
    this.view.message = list ? [headline(list, filters), ...list.notes].join("\n") : "";
    this.changed.fire();
  }

  /** Bring the view to the front. */
  async focus(): Promise<void> {
    await vscode.commands.executeCommand("dowse.results.focus");
  }

  /** Select a result, with the reasons for it. */
  async explain(result: Result): Promise<void> {
    const node = this.nodes.get(result);
    if (node) await this.view.reveal(node, { select: true, focus: true, expand: true });
  }

  getChildren(node?: Node): Node[] {
    if (!node) return this.files;
    if (node.type === "file") {
      return node.group.results.flatMap((result) => this.nodes.get(result) ?? []);
    }
    if (node.type === "reason") return [];
    return node.result.reasons.map((reason) => ({ type: "reason", reason, result: node }));
  }

  getParent(node: Node): Node | undefined {
    return node.type === "result" ? node.file : node.type === "reason" ? node.result : undefined;
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (node.type === "file") return fileItem(node.group);
    return node.type === "result" ? resultItem(node.result) : reasonItem(node.reason);
  }

  dispose(): void {
    this.view.dispose();
    this.changed.dispose();
  }
}

/** Say how many results there are, and of what: a view alone in its container shows no description. */
function headline({ title, groups }: ResultList, filters: string): string {
  const total = groups.reduce((sum, group) => sum + group.results.length, 0);
  return `${plural(total, "result")}: ${[title, filters].filter(Boolean).join(" · ")}`;
}

function fileItem(group: FileGroup): vscode.TreeItem {
  const item = new vscode.TreeItem(
    vscode.Uri.parse(group.uri, true),
    vscode.TreeItemCollapsibleState.Expanded,
  );
  const slash = group.path.lastIndexOf("/");
  item.label = group.path.slice(slash + 1);
  item.description = slash < 0 ? "" : group.path.slice(0, slash);
  item.iconPath = vscode.ThemeIcon.File;
  return item;
}

function resultItem(result: Result): vscode.TreeItem {
  const item = new vscode.TreeItem(result.name, vscode.TreeItemCollapsibleState.Collapsed);
  const line = `line ${result.place.line + 1}`;
  item.description = [line, result.certainty, result.summary].filter(Boolean).join(" · ");
  item.iconPath = new vscode.ThemeIcon(iconName(result.kind));
  item.tooltip = tooltip(result);
  item.command = openCommand(result.place);
  item.accessibilityInformation = {
    label: [result.kind, result.name, line, result.certainty].filter(Boolean).join(", "),
  };
  return item;
}

function reasonItem(reason: Reason): vscode.TreeItem {
  const item = new vscode.TreeItem(reason.label);
  item.description = reason.detail;
  item.tooltip = `${reason.label}: ${reason.detail}`;
  if (reason.place) item.command = openCommand(reason.place);
  return item;
}

function openCommand(place: Result["place"]): vscode.Command {
  return { command: "dowse.open", title: "Open", arguments: [place] };
}

/** Code and documentation are shown as they are: a repository must not load images. */
function tooltip(result: Result): vscode.MarkdownString {
  const text = new vscode.MarkdownString();
  if (result.summary) text.appendCodeblock(result.summary, "");
  if (result.doc) text.appendText(`${result.doc}\n`);
  for (const { label, detail } of result.reasons) text.appendText(`\n${label}: ${detail}\n`);
  return text;
}
