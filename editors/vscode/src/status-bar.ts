import type { Status } from "@page/api/types";
import * as vscode from "vscode";
import { indexState } from "./index-state";
import type { Server, WorkDoneProgress } from "./server";

/** The state of the index in the status bar: from `$/progress`, and from `dowse/status` between updates. */
export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem(
    "dowse.status",
    vscode.StatusBarAlignment.Right,
    100,
  );
  private readonly listener: vscode.Disposable;

  constructor(private readonly server: Server) {
    this.item.name = "Dowse";
    this.item.command = "dowse.search";
    this.listener = server.onProgress((progress) => this.report(progress));
  }

  /** Show the state of a server that runs; show nothing where the setting says so. */
  async update(): Promise<void> {
    const isShown = vscode.workspace.getConfiguration("dowse").get("statusBar", true);
    if (!isShown || !this.server.isStarted) return this.item.hide();
    try {
      const state = indexState(await this.server.request<Status>("dowse/status", {}));
      this.show(state.icon, state.text, state.details);
      if (state.icon === "warning") {
        this.item.backgroundColor = new vscode.ThemeColor("statusBarItem.warningBackground");
      }
    } catch (error) {
      this.show("warning", "not running", [error instanceof Error ? error.message : String(error)]);
    }
    this.item.show();
  }

  dispose(): void {
    this.listener.dispose();
    this.item.dispose();
  }

  private report(progress: WorkDoneProgress): void {
    if (progress.kind === "end") return void this.update();
    // "Indexing 3 of 9 files", "Embedding 3 of 9 symbols"; the first report has no message.
    const message = progress.message ?? "Indexing";
    const share = progress.percentage === undefined ? "" : ` ${progress.percentage} %`;
    this.show("sync~spin", message.split(" ", 1).join("").toLowerCase() + share, [message]);
  }

  private show(icon: string, text: string, details: readonly string[]): void {
    this.item.text = `$(${icon}) dowse: ${text}`;
    this.item.tooltip = details.join("\n");
    this.item.backgroundColor = undefined;
    this.item.accessibilityInformation = { label: `dowse: ${text}. ${details.join(". ")}` };
  }
}
