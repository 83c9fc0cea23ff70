// Points of programs and processes.
import { systemtap } from "../../messages/systemtap.ts";
import type { Message } from "../../messages/message.ts";
import type { Make, PointGiven, Reading } from "./place.ts";
import { callSuffixes, functionPattern, ofCopies, statementParts, unknown, watched } from "./point-parts.ts";
import type { Component, Point } from "./syntax.ts";
import { ofProgram } from "./whose-points.ts";

const processWords = [
  "function",
  "statement",
  "mark",
  "provider",
  "plt",
  "library",
  "begin",
  "end",
  "thread",
  "syscall",
  "data",
];

/** `ofOne`: of one process only, whatever its program is. */
export function processPoint(
  first: Component,
  rest: readonly Component[],
  point: Point,
  make: Make,
  given: PointGiven,
  ofOne = false,
): Reading {
  const { argument } = first;
  const path = argument === undefined ? undefined : typeof argument === "bigint" ? `/proc/${argument}/exe` : argument;
  const [of, ...suffixes] = rest;
  if (of === undefined) return { problem: unknown(point, processWords, of) };
  if (path === undefined)
    return {
      problem: systemtap.pointNotSupported(
        point.text,
        "no program is given",
        'name it: process("PATH"), or give a process: -c COMMAND, -x PID',
      ),
    };
  const quoted = (): { readonly problem: Message } => ({
    problem: systemtap.expected(`a name in quotes, as in .${of.name}("…")`, `\`${point.text}\``),
  });
  switch (of.name) {
    case "library": {
      if (typeof of.argument !== "string") return quoted();
      return processPoint({ ...first, argument: of.argument }, suffixes, point, make, given);
    }
    case "function": {
      if (typeof of.argument !== "string" && typeof of.argument !== "bigint") return quoted();
      const refused = suffixes.find(({ name }) => !callSuffixes.includes(name));
      if (refused !== undefined) return { problem: unknown(point, callSuffixes, refused) };
      const [name, lines] =
        typeof of.argument === "bigint" ? [`0x${of.argument.toString(16)}`, undefined] : functionPattern(of.argument);
      const whole = lines === undefined ? name : `${name}@${lines}`;
      const returns = suffixes.some((one) => one.name === "return");
      const copies = ofCopies(suffixes, point);
      if (copies !== undefined) return copies;
      if (suffixes.some((one) => one.name === "inline"))
        return make("uprobe", [path, `inlined:${name}`], { variables: "vars" });
      if (!returns) return make("uprobe", [path, whole], { variables: "vars" });
      return make("uretprobe", [path, whole], { variables: "vars", returns }, ["uprobe", [path, whole]]);
    }
    case "statement": {
      if (of.argument === undefined) return quoted();
      if (typeof of.argument === "bigint")
        return make("uprobe", [path, `0x${of.argument.toString(16)}`], { variables: "vars" });
      const [name, lines] = functionPattern(of.argument);
      return make("uprobe", statementParts(path, name, lines), { variables: "vars" });
    }
    case "mark":
      if (typeof of.argument !== "string") return quoted();
      return make("usdt", [path, of.argument], { variables: "args", marks: true, anyProvider: true });
    case "provider": {
      const [mark] = suffixes;
      if (typeof of.argument !== "string" || mark?.name !== "mark" || typeof mark.argument !== "string")
        return quoted();
      return make("usdt", [path, of.argument, mark.argument], { variables: "args", marks: true });
    }
    case "plt": {
      const name = typeof of.argument === "string" ? of.argument : "*";
      const [suffix] = suffixes;
      if (suffix === undefined) return make("plt", [path, name], { variables: "args", marks: true });
      if (suffix.name !== "return") return { problem: unknown(point, ["return"], suffix) };
      return make("pltret", [path, name], { variables: "args", marks: true, returns: true }, ["plt", [path, name]]);
    }
    case "begin":
    case "end":
      return make("process", [path, of.name]);
    case "thread": {
      const [when] = suffixes;
      if (when?.name !== "begin" && when?.name !== "end") return { problem: unknown(point, ["begin", "end"], when) };
      return make("thread", [path, when.name]);
    }
    case "syscall": {
      const [suffix] = suffixes;
      if (suffix !== undefined && suffix.name !== "return") return { problem: unknown(point, ["return"], suffix) };
      const entry = ["tracepoint", ["raw_syscalls", "sys_enter"]] as const;
      const place =
        suffix === undefined
          ? make(...entry, { variables: "args", calls: true })
          : make(
              "tracepoint",
              ["raw_syscalls", "sys_exit"],
              { variables: "args", returns: true, result: "ret", calls: true },
              entry,
            );
      return typeof argument === "string" && !ofOne ? ofProgram(argument, point, given.machine, place) : place;
    }
    case "data":
      return watched(of, suffixes, point, (length, mode) => {
        if (typeof of.argument === "bigint")
          return {
            problem: systemtap.pointNotSupported(
              point.text,
              "variables of programs are watched by name",
              '.data("NAME")',
            ),
          };
        return make("watchpoint", [path, String(of.argument), ...(length === undefined ? [] : [length]), mode]);
      });
    default:
      return { problem: unknown(point, processWords, of) };
  }
}
