// Arguments of calls: literals, maps, clocks, and the memory that they mean.
import { InternalError } from "../../base/internal-error.ts";
import type { Call, Expression, MapAccess } from "../../language/program.ts";
import { sizeOf } from "../../language/layout.ts";
import type { Place, Source } from "../ir/ir.ts";
import { contextOf } from "./fetch.ts";
import { addressOf, behind, placeOf, probeSpace } from "./memory.ts";
import { isRegister, widthOf } from "./registers.ts";
import type { FunctionState, Located } from "./state.ts";

export function writeBytes(f: FunctionState, e: Expression, size: number, to: Place): void {
  if (isRegister(e.type) && e.type.kind !== "pointer") {
    f.build.emit({ op: "store", to, value: f.value(e), size: widthOf(e.type) <= size ? widthOf(e.type) : 1 });
    return;
  }
  const located = pointed(f, e);
  const source: Source =
    located.at === "memory"
      ? { kind: "memory", space: probeSpace(located.space), address: addressOf(f, located), size }
      : { kind: "copy", from: placeOf(f, located, e.type), size: Math.min(size, sizeOf(e.type)) };
  f.build.emit({ op: "fill", to, source });
}

export function clock(
  which: Expression | undefined,
): "nsecs-boot" | "nsecs-monotonic" | "nsecs-tai" | "nsecs-sw-tai" | "nsecs-wall" {
  const name = which?.kind === "identifier" || which?.kind === "builtin" ? which.name : "boot";
  switch (name) {
    case "monotonic":
      return "nsecs-monotonic";
    case "tai":
      return "nsecs-tai";
    case "sw_tai":
      return "nsecs-sw-tai";
    case "wall":
      return "nsecs-wall";
    default:
      return "nsecs-boot";
  }
}

export function literalText(e: Expression | undefined): string {
  if (e?.kind === "string") return e.value;
  throw new InternalError("the checker let an argument pass that is not a string literal");
}

export function literalNumber(f: FunctionState, e: Expression): bigint {
  if (e.kind === "integer") return e.value;
  const known = f.build.constantOf(f.value(e));
  return known ?? f.fault(e.span, "an argument that is not a constant");
}

/** The map access of `delete(@m[k])`, or of the older-shaped `delete(@m, k)`. */
export function mapArgument(f: FunctionState, e: Call): MapAccess {
  const [access, key] = e.args;
  if (access?.kind !== "map") return f.fault(e.span, "an argument that is not a map");
  return key === undefined || access.keys.length > 0 || e.name === "find" ? access : { ...access, keys: [key] };
}

/** What an argument that means memory points to: a pointer's target, or the bytes of an array or a struct in place. */
export function pointed(f: FunctionState, e: Expression): Located {
  if (e.type.kind === "pointer") return behind(f, f.value(e), e.type);
  if (isRegister(e.type)) {
    return { at: "memory", space: contextOf(f)?.defaultSpace ?? "kernel", address: f.value(e), offset: 0 };
  }
  return f.locate(e);
}
