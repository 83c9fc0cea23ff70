// Starts the language server for bpftrace scripts: the one beside this file, unless the settings name another.
import { join } from "node:path";
import { commands, workspace, type ExtensionContext } from "vscode";
import { LanguageClient, TransportKind, type ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const start = (): Promise<void> => {
    client = new LanguageClient("strobe", "strobe", serverOptions(context.extensionPath), {
      documentSelector: [{ language: "bpftrace" }],
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

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}
