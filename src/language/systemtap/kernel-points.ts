// Points of the kernel and of its modules.
import { systemtap } from "../../messages/systemtap.ts";
import type { Make, PointGiven, Reading } from "./place.ts";
import { callSuffixes, functionPattern, maxactive, ofCopies, unknown, watched } from "./point-parts.ts";
import type { Component, Point } from "./syntax.ts";

const ofFile = "which functions a file of the kernel has is not looked up: name the function without its file";

export function kernel(
  first: Component,
  [of, ...suffixes]: readonly Component[],
  point: Point,
  make: Make,
  given: PointGiven,
): Reading {
  const words =
    first.name === "module" ? ["function", "statement"] : ["function", "statement", "trace", "tracepoint", "data"];
  if (of === undefined) return { problem: unknown(point, words, of) };
  const module = typeof first.argument === "string" ? [first.argument] : [];
  switch (of.name) {
    case "trace":
    case "tracepoint": {
      if (typeof of.argument !== "string") break;
      // The kernel's own arguments, as the tracepoint's prototype names them.
      const colon = of.argument.indexOf(":");
      const group = colon < 0 ? "*" : of.argument.slice(0, colon);
      return make(
        "rawtracepoint",
        [of.argument.slice(colon + 1)],
        { variables: "args", tracepoint: of.name },
        undefined,
        { group },
      );
    }
    case "function": {
      if (typeof of.argument !== "string") break;
      const refused = suffixes.find(({ name }) => !callSuffixes.includes(name));
      if (refused !== undefined) return { problem: unknown(point, callSuffixes, refused) };
      const [name, lines] = functionPattern(of.argument);
      if (lines?.includes(":") === false) return { problem: systemtap.pointNotSupported(point.text, ofFile) };
      const whole = lines === undefined ? name : `${name}@${lines}`;
      const returns = suffixes.some((one) => one.name === "return");
      const copies = ofCopies(suffixes, point);
      if (copies !== undefined) return copies;
      if (suffixes.some((one) => one.name === "inline"))
        return module.length > 0
          ? { problem: systemtap.pointNotSupported(point.text, "inlined copies are found in the kernel itself") }
          : make("kprobe", ["inlined", name], { variables: "vars" });
      const options = maxactive(suffixes, point);
      if (options !== undefined && "problem" in options) return options;
      if (!returns) return make("kprobe", [...module, whole], { variables: "args" });
      const entry = ["kprobe", [...module, name]] as const;
      return make("kretprobe", [...module, name], { variables: "args", returns }, entry, options);
    }
    // What syscall.NAME is an alias of.
    case "syscall": {
      const returns = suffixes.length > 0;
      const entry = ["tracepoint", ["syscalls", `sys_enter_${String(of.argument)}`]] as const;
      if (!returns) return make(...entry, { variables: "args" });
      const seen = { variables: "args", returns, result: "ret" } as const;
      return make("tracepoint", ["syscalls", `sys_exit_${String(of.argument)}`], seen, entry);
    }
    case "statement": {
      if (typeof of.argument !== "string") break;
      const [name, lines] = functionPattern(of.argument);
      return make("kprobe", [...module, lines === undefined ? name : `${name === "*" ? "" : name}@${lines}`], {
        variables: "vars",
      });
    }
    case "data":
      return watched(of, suffixes, point, (length, mode) => {
        const address =
          typeof of.argument === "bigint" ? of.argument : given.machine?.kernelAddress?.(String(of.argument));
        if (address === undefined)
          return {
            problem: systemtap.pointNotSupported(point.text, `the kernel does not tell where ${of.argument} is`),
          };
        return make("watchpoint", [`0x${address.toString(16)}`, length ?? "1", mode]);
      });
    case "mark":
    case "lsm":
      return { problem: systemtap.pointNotSupported(point.text, `\`kernel.${of.name}\` is not there yet`) };
    default:
      return { problem: unknown(point, words, of) };
  }
  return { problem: systemtap.expected(`a name in quotes, as in kernel.${of.name}("…")`, `\`${point.text}\``) };
}
