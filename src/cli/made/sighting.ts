// `PROBE OBJECT`: where an object is seen, and what of the event it is.
import { questions } from "../../messages/questions.ts";
import { UsageError } from "../usage-error.ts";

export interface Sighting {
  /** Undefined: a bare function's name, where no kind of probe is taken for granted. */
  readonly probe: string | undefined;
  /** An expression of its handler. */
  readonly object: string;
  readonly space: "kernel" | "user";
}

const userKinds = new Set(["uprobe", "uretprobe", "u", "ur", "usdt", "U", "ret"]);

/**
 * `igrab`, `igrab args.inode`, `fget retval`, `uprobe:./prog:open_it arg1`. A bare name is of the kind `bare`; with
 * `retval` of the probe where that function returns.
 */
export function readSighting(flag: string, text: string, bare: "kprobe" | undefined): Sighting {
  const [, place = "", behind = ""] = /^\s*(\S+)\s*(.*?)\s*$/s.exec(text) ?? [];
  if (place === "") throw new UsageError(questions.needsFunction(flag));
  if (/[{};]|\/\//.test(behind)) throw new UsageError(questions.oneExpression(flag, behind));
  const returns = /\bretval\b/.test(behind);
  const object = behind === "" ? "arg0" : behind;
  if (place.includes(":")) {
    const [kind, ...rest] = place.split(":");
    const known: Readonly<Record<string, string>> = {
      kprobe: "kretprobe",
      k: "kretprobe",
      uprobe: "uretprobe",
      u: "uretprobe",
    };
    const probe = returns && Object.hasOwn(known, kind) ? [known[kind], ...rest].join(":") : place;
    return { probe, object, space: userKinds.has(kind) ? "user" : "kernel" };
  }
  if (!/^[\w.*?]+$/.test(place)) throw new UsageError(questions.functionOrProbe(flag, place));
  return {
    probe: bare === undefined ? undefined : `${returns ? "kretprobe" : bare}:${place}`,
    object,
    space: "kernel",
  };
}

/** Of what a verbose listing says of a function, its arguments or its result; not its variables, source and copies. */
export function valuesIn(details: readonly string[]): readonly string[] {
  const lines = details.map((line) => line.trim());
  const others = lines.findIndex((line) => /^(?:var|at) /.test(line));
  return others < 0 ? lines : lines.slice(0, others);
}
