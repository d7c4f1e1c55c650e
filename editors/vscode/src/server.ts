import { homedir } from "node:os";
import * as vscode from "vscode";
import {
  LanguageClient,
  RevealOutputChannelOn,
  type LanguageClientOptions,
  type WorkDoneProgressBegin,
  type WorkDoneProgressEnd,
  type WorkDoneProgressReport,
} from "vscode-languageclient/node";
import { serverCommand } from "./server-command";

export type WorkDoneProgress = WorkDoneProgressBegin | WorkDoneProgressReport | WorkDoneProgressEnd;

/** The language server of this window: started by the first request. */
export class Server implements vscode.Disposable {
  private readonly progressed = new vscode.EventEmitter<WorkDoneProgress>();
  private readonly output = vscode.window.createOutputChannel("Dowse", { log: true });
  private client: Promise<LanguageClient> | undefined;
  readonly onProgress = this.progressed.event;

  /** Send a request; the server is started if it does not run. */
  async request<T>(method: string, params: unknown, token?: vscode.CancellationToken): Promise<T> {
    const client = await this.start();
    // An explicit undefined would be sent as a second parameter.
    return token
      ? client.sendRequest<T>(method, params, token)
      : client.sendRequest<T>(method, params);
  }

  /** Start the server if it does not run; after a failure, the next call tries again. */
  start(): Promise<LanguageClient> {
    this.client ??= this.run().catch((error: unknown) => {
      this.client = undefined;
      throw error;
    });
    return this.client;
  }

  /** Stop the server; the next request starts it with the settings of then. */
  async stop(): Promise<void> {
    const running = this.client;
    this.client = undefined;
    await running?.then(
      (client) => client.dispose(),
      () => undefined,
    );
  }

  get isStarted(): boolean {
    return this.client !== undefined;
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.progressed.dispose();
    this.output.dispose();
  }

  private async run(): Promise<LanguageClient> {
    const settings = vscode.workspace.getConfiguration("dowse");
    const command = serverCommand(settings.get("path", "dowse"));
    // Not in the workspace: Windows looks for commands in the current folder first.
    const server = { command, args: ["lsp"], options: { cwd: homedir() } };
    const client = new LanguageClient("dowse", "Dowse", server, this.options(settings));
    try {
      await client.start();
    } catch (error) {
      this.output.error(String(error));
      throw new Error(
        `\`${command} lsp\` does not start; install dowse, or set \`dowse.path\` (see the output "Dowse")`,
      );
    }
    return client;
  }

  private options(settings: vscode.WorkspaceConfiguration): LanguageClientOptions {
    return {
      // No scheme: a selector without one has the lowest priority, so that call and type hierarchies
      // of a language's own extension are used where there are any.
      documentSelector: [{ language: "*" }],
      initializationOptions: {
        ...settings.get<Record<string, boolean>>("features"),
        codeLensCommand: "dowse.showCallers",
      },
      outputChannel: this.output,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      middleware: {
        didOpen: (document, next) => onlyFiles(document.uri, () => next(document)),
        didChange: (event, next) => onlyFiles(event.document.uri, () => next(event)),
        didSave: (document, next) => onlyFiles(document.uri, () => next(document)),
        didClose: (document, next) => onlyFiles(document.uri, () => next(document)),
        handleWorkDoneProgress: (token, params, next) => {
          this.progressed.fire(params);
          if (!settings.get("statusBar", true)) next(token, params);
        },
      },
    };
  }
}

/** Output channels, diffs and notebooks have documents as well; only files are indexed. */
async function onlyFiles(uri: vscode.Uri, send: () => Promise<void>): Promise<void> {
  if (uri.scheme === "file") await send();
}
