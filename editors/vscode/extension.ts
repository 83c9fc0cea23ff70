// Starts the language server for bpftrace scripts: the one beside this file, unless the settings name another.
import { join } from "node:path";
import { workspace, type ExtensionContext } from "vscode";
import { LanguageClient, TransportKind, type ServerOptions } from "vscode-languageclient/node";

let client: LanguageClient | undefined;

export async function activate(context: ExtensionContext): Promise<void> {
  const chosen = workspace.getConfiguration("strobe").get<string>("server", "").trim();
  const [command, ...args] = chosen.split(/\s+/);
  const server: ServerOptions = chosen === ""
    ? { module: join(context.extensionPath, "dist", "server.js"), transport: TransportKind.stdio }
    : { command, args, transport: TransportKind.stdio };
  client = new LanguageClient("strobe", "strobe", server, { documentSelector: [{ language: "bpftrace" }] });
  await client.start();
}

export function deactivate(): Promise<void> | undefined {
  return client?.stop();
}
