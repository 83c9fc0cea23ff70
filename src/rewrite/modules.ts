// A file as Node is to be handed it: types stripped, handlers wrapped.
import { readFileSync } from "node:fs";
import { extname } from "node:path";
import { kept, type Format, type LoadedModule } from "./kept-modules.ts";
import { namesIn, reachesLibrary, stampsBehind } from "./library-names.ts";
import { parsed, rewriteModule, usesModules, type Rewritten } from "./rewrite.ts";
import { stripTypes } from "./strip.ts";
import { mayNeedUsing } from "./using.ts";

const typescript: ReadonlySet<string> = new Set([".ts", ".mts", ".cts"]);
const javascript: ReadonlySet<string> = new Set([".js", ".mjs", ".cjs"]);

export function isTypeScript(file: string): boolean {
  return typescript.has(extname(file));
}

/**
 * A file as Node is to be handed it; undefined when it can take the file as it is.
 * @throws ScriptError where TypeScript cannot be stripped
 */
export function loadModule(file: string, known?: Format): LoadedModule | undefined {
  if (!isTypeScript(file) && !javascript.has(extname(file))) return undefined;
  const text = textOf(file);
  if (!reachesLibrary(file, text)) return undefined;
  return isTypeScript(file) ? fromTypeScript(file, text, known) : fromJavaScript(file, text, known);
}

/** A TypeScript file as JavaScript, whether it has handlers or not. @throws ScriptError */
export function loadTypeScript(file: string, known?: Format): LoadedModule {
  return fromTypeScript(file, textOf(file), known);
}

/** Without a byte order mark, as Node reads it. */
function textOf(file: string): string {
  const text = readFileSync(file, "utf8");
  return text.startsWith("\ufeff") ? text.slice(1) : text;
}

function fromTypeScript(file: string, text: string, known: Format | undefined): LoadedModule {
  const make = (): LoadedModule => stripped(file, text, known);
  return kept(file, text, known, make, stampsBehind(file, text)) ?? make();
}

function stripped(file: string, text: string, known: Format | undefined): LoadedModule {
  const code = stripTypes(file, text);
  const rewritten =
    reachesLibrary(file, text) || mayNeedUsing(text)
      ? rewriteModule({ file, text, javascript: code }, { names: namesIn(file), lowersUsing: true })
      : undefined;
  return { format: formatOf(file, code, known), source: rewritten ? withMap(rewritten) : code };
}

/** JavaScript, a file's or what somebody else made of it; undefined when it has no handlers. */
export function fromJavaScript(file: string, text: string, known: Format | undefined): LoadedModule | undefined {
  return kept(
    file,
    text,
    known,
    () => {
      const rewritten = rewriteModule({ file, text }, { names: namesIn(file), lowersUsing: true });
      return rewritten && { format: formatOf(file, text, known), source: withMap(rewritten) };
    },
    stampsBehind(file, text),
  );
}

/** What a file is: what its name says, or else whether it has what only modules have. */
function formatOf(file: string, code: string, known: Format | undefined): Format {
  switch (extname(file)) {
    case ".mts":
    case ".mjs":
      return "module";
    case ".cts":
    case ".cjs":
      return "commonjs";
    default: {
      const program = parsed(code);
      return known === "module" || !program || usesModules(program, code) ? "module" : (known ?? "commonjs");
    }
  }
}

function withMap(rewritten: Rewritten): string {
  return `${rewritten.code}\n//# sourceMappingURL=data:application/json;base64,${Buffer.from(rewritten.map()).toString("base64")}\n`;
}
