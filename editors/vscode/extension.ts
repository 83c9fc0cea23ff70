// Starts the language server: the one beside this file, unless the settings name another. Runs a script at its button.
import { join } from "node:path";
import { commands, Range, ThemeColor, Uri, window, workspace, type ExtensionContext } from "vscode";
import { LanguageClient, TransportKind, type ServerOptions } from "vscode-languageclient/node";
import { runScript, type Running } from "./run.ts";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const start = (): Promise<void> => {
    client = new LanguageClient("strobe", "strobe", serverOptions(context.extensionPath), {
      documentSelector: ["bpftrace", "systemtap", "dtrace", "strobe-sql"].map((language) => ({ language })),
      initializationOptions: { run: true },
    });
    return client.start();
  };
  // One after the other, as a client that is starting cannot be stopped.
  let restarted = Promise.resolve();
  const restart = (): Promise<void> =>
    (restarted = restarted
      .then(() => client?.dispose())
      .catch(() => {})
      .then(start));
  context.subscriptions.push(
    commands.registerCommand("strobe.restart", restart),
    commands.registerCommand("strobe.run", button(context)),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("strobe.server")) void restart();
    }),
  );
  await (restarted = start());
}

/** The setting is one of the machine: a folder that was opened cannot name what is run. */
function serverOptions(folder: string): ServerOptions {
  const chosen = workspace.getConfiguration("strobe").get<string>("server", "").trim();
  if (chosen === "") return { module: join(folder, "dist", "server.js"), transport: TransportKind.stdio };
  const [command, ...args] = chosen.split(/\s+/);
  return { command, args, transport: TransportKind.stdio };
}

/** Runs the script whose button was pressed, or ends it. Its last line stands behind the probe, all of them in the panel. */
function button(context: ExtensionContext): (uri?: string, line?: number) => Promise<void> {
  const channel = window.createOutputChannel("strobe");
  const inline = window.createTextEditorDecorationType({
    after: { margin: "0 0 0 2em", color: new ThemeColor("editorCodeLens.foreground") },
    isWholeLine: true,
  });
  const running = new Map<string, Running>();
  context.subscriptions.push(channel, inline, { dispose: () => running.forEach((one) => one.stop()) });
  return async (uri = window.activeTextEditor?.document.uri.toString(), line = 0) => {
    if (uri === undefined) return;
    const before = running.get(uri);
    if (before !== undefined) return before.stop();
    if (!workspace.isTrusted) {
      void window.showWarningMessage("strobe runs scripts of trusted workspaces only");
      return;
    }
    const document = await workspace.openTextDocument(Uri.parse(uri));
    if (document.isUntitled || !(await document.save())) return;
    channel.clear();
    channel.show(true);
    const show = (text: string): void => {
      channel.appendLine(text);
      for (const editor of window.visibleTextEditors)
        if (editor.document === document)
          editor.setDecorations(inline, [
            { range: new Range(line, 0, line, 0), renderOptions: { after: { contentText: text.slice(0, 200) } } },
          ]);
    };
    const command = workspace.getConfiguration("strobe").get<string>("command", "");
    running.set(
      uri,
      runScript(command, document.uri.fsPath, show, (how) => {
        running.delete(uri);
        channel.appendLine(how);
      }),
    );
  };
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}
