// Whether a value is there, or counts as true: what JavaScript asks, of values that may be missing.
import { maps } from "../../messages/maps.ts";
import type { Expression, Presence } from "../program.ts";
import { boolType, i64 } from "../types.ts";
import { settled } from "./integers.ts";
import { checkMapEntry, isUndefined, nearMaps } from "./map-access.ts";
import { report, type Body } from "./pass.ts";
import { mapName } from "./spelling.ts";
import { always, checkExpression, checkPlace, isText } from "./values.ts";
import { InternalError } from "../../base/internal-error.ts";

/** What a value's type has to say about whether it is there. */
export function checkPresence(node: Presence, body: Body): Expression {
  const { asks, of, there } = node;
  if (asks === "entry") return ofEntry(node, body);
  if (asks === "sense") return hasSense(of, body);
  const checked = checkPlace(of, body);
  switch (checked.type.kind) {
    case "unknown":
      return checked;
    case "pointer":
      return asks === "truth" ? checked : unlessZero(checked);
    case "boolean":
    case "integer":
    case "enum":
      return asks === "truth"
        ? checked
        : asks === "null" && there === undefined
          ? unlessZero(checked)
          : always(checked);
    case "string":
      return asks === "truth" ? isText(checked) : always(checked);
    default:
      return there === undefined ? always(checked) : checkExpression(there, body);
  }
}

/** Whether the expression has a meaning here, told before the script runs: its own mistakes are not said. */
function hasSense(of: Expression, body: Body): Expression {
  const { pass, kernelNeeds, hostNeeds } = body;
  const { final, diagnostics } = pass;
  const [kernel, host] = [kernelNeeds.length, hostNeeds.length];
  pass.final = true;
  pass.diagnostics = [];
  checkPlace(of, body);
  const value = !pass.diagnostics.some(({ severity }) => severity === "error");
  pass.final = final;
  pass.diagnostics = diagnostics;
  kernelNeeds.length = kernel;
  hostNeeds.length = host;
  return { kind: "boolean", value, span: of.span, type: boolType };
}

function unlessZero(of: Expression): Expression {
  const { span } = of;
  return {
    kind: "binary",
    operator: "!=",
    left: of,
    right: { kind: "integer", value: 0n, span, type: i64 },
    span,
    type: boolType,
  };
}

function ofEntry({ of, span }: Presence, body: Body): Expression {
  if (of.kind !== "map") throw new InternalError("an entry was asked of something that is no map");
  const { access, map } = checkMapEntry(of, body, "look-up");
  if (isUndefined(map)) report(body, of.span, maps.undefinedMap(mapName(body, map.name), nearMaps(map.name, body)));
  return { kind: "call", name: "has_key", args: [{ ...access, type: settled(map.value) }], span, type: boolType };
}
