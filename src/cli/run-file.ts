// What `strobe run FILE` starts, on Node's own terms: an entry of its own beside the library, so that both are of one
// piece.
import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { inspect } from "node:util";
import { startDryRun } from "../api/dry-run.ts";
import { ofAnotherKernel } from "../declare/about.ts";
import { ScriptError } from "../language/diagnostic.ts";
import { hasNoReader } from "../linux/sleep.ts";
import { installHooks } from "../rewrite/install.ts";
import { errorText } from "./errors.ts";

/**
 * Runs a program as `node FILE …` does; it ends when it has nothing left to do. `dry`: up to its first trace(), whose probes
 * are said. Never resolves.
 */
export function runFile(file: string, args: readonly string[], dry = false): Promise<never> {
  const path = resolve(file);
  if (!existsSync(path)) fail(`strobe: failed to open file '${file}': no such file\n`);
  for (const folder of new Set([join(dirname(path), "strobe-types"), resolve("strobe-types")])) {
    const stale = ofAnotherKernel(folder);
    if (stale !== undefined) process.stderr.write(`strobe: ${stale}\n`);
  }
  if (dry) startDryRun({ print: (text) => process.stdout.write(text), ended: () => process.exit(0) });
  installHooks();
  process.argv = [process.execPath, path, ...args];
  process.on("uncaughtException", uncaught);
  import(pathToFileURL(path).href).catch((error: unknown) =>
    process.nextTick(() => {
      throw error;
    }),
  );
  return new Promise(() => {});
}

/** What of strobe goes wrong is said as the command says it; anything else as Node says it. */
function uncaught(error: unknown): void {
  // The program looks after its errors itself.
  if (process.listenerCount("uncaughtException") > 1) return;
  if (isClosedOutput(error)) process.exit(0);
  const ours = ownError(error);
  fail(
    ours
      ? errorText(ours, false)
      : `${error instanceof Error ? "" : "Uncaught:\n"}${inspect(error)}\n\nNode.js ${process.version}\n`,
  );
}

/** The reader of what the program prints is gone (`strobe run … | head`): it ends as a script does then. */
function isClosedOutput(error: unknown): boolean {
  const { code, syscall } = (error ?? {}) as Partial<NodeJS.ErrnoException>;
  return code === "EPIPE" && syscall === "write" && (hasNoReader(1) || hasNoReader(2));
}

/** Errors that came from the hooks' thread have lost their class. */
function ownError(error: unknown): Error | undefined {
  if (!(error instanceof Error)) return undefined;
  const { source, diagnostics } = error as Partial<ScriptError>;
  if (error.name === "ScriptError" && source && diagnostics) return new ScriptError(source, diagnostics);
  return ["LinuxError", "AttachError", "InternalError"].includes(error.name) ? error : undefined;
}

function fail(text: string): never {
  process.stderr.write(text);
  process.exit(1);
}
