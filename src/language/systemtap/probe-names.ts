// Probes that were found, as SystemTap names them: `process("/bin/x").function("main@/src/x.c:5").call`.
import type { ProbeSpec, SourcePlace } from "../probe-spec.ts";

/** `name`: by the kind's name and parts. Points of the script keep their suffixes. */
export function spelledProbe(name: string, asked?: ProbeSpec, source?: SourcePlace): string {
  const text = asked?.text ?? "";
  const [kind = "", ...parts] = name.split(":");
  switch (kind) {
    case "uprobe":
    case "uretprobe":
      return text.startsWith("process")
        ? inProgram(text, parts, source)
        : program(parts, source) +
            `.${/:\d+$/.test(name) ? "statement" : "function"}(${quoted(place(parts.slice(1), source))})`;
    case "kprobe":
    case "kretprobe":
      return inKernel(text, parts, kind === "kretprobe");
    case "rawtracepoint":
      return `kernel.trace(${quoted(parts.join(":"))})`;
    case "usdt":
      return `${program(parts, source)}.provider(${quoted(parts[1] ?? "")}).mark(${quoted(parts.slice(2).join(":"))})`;
    case "plt":
    case "pltret":
      return `${program(parts, source)}.plt(${quoted(parts.slice(1).join(":"))})${kind === "pltret" ? ".return" : ""}`;
    default:
      return text === "" ? name : text;
  }
}

const quoted = (text: string): string => JSON.stringify(text);

function program([path = ""]: readonly string[], source: SourcePlace | undefined): string {
  return `process(${quoted(source?.path ?? path)})`;
}

/** `main@/src/x.c:5`, or the name alone where nothing tells more. */
function place(parts: readonly string[], source: SourcePlace | undefined): string {
  const { function: of, file, line } = source ?? {};
  return of === undefined || file === undefined ? parts.join(":").replace(/@[^@]*$/, "") : `${of}@${file}:${line ?? 0}`;
}

const argument = /\.(function|statement)\((?:"(?:[^"\\]|\\.)*"|\w+)\)/;

/** As the script has it, with the program's path and the function or line that was found. */
function inProgram(text: string, parts: readonly string[], source: SourcePlace | undefined): string {
  const found = place(parts.slice(1), source);
  const own = text.replace(/^process(?:\((?:"(?:[^"\\]|\\.)*"|\w+)\))?/, () =>
    text.includes(".library(") ? text.slice(0, text.indexOf(".library(")) : program(parts, source),
  );
  const inLibrary =
    source === undefined
      ? own
      : own.replace(/\.library\("(?:[^"\\]|\\.)*"\)/, () => `.library(${quoted(source.path)})`);
  return inLibrary.replace(argument, (whole, word: string) => (found === "" ? whole : `.${word}(${quoted(found)})`));
}

function inKernel(text: string, parts: readonly string[], returns: boolean): string {
  const [function_ = "", module] = parts.toReversed();
  // Points by lines stay as they are written: which function a line is in is not told.
  if (argument.test(text) && !text.includes("@"))
    return text.replace(argument, (_, word: string) => `.${word}(${quoted(function_)})`);
  if (text !== "") return text;
  return `${module === undefined ? "kernel" : `module(${quoted(module)})`}.function(${quoted(function_)})${returns ? ".return" : ""}`;
}
