// Structs of libraries as their languages show them: which those are. What is read of them is in shape-trees.ts.
import { absentText } from "../absent.ts";
import type { Context } from "../context.ts";
import type { Builtin, Expression, Statement } from "../program.ts";
import type { PointerType, RecordType, Shape, StructType, Type } from "../types.ts";
import { u64, unknownType } from "../types.ts";
import type { Body } from "./pass.ts";
import { needsKernel } from "./pass.ts";
import type { TreeMaker } from "./shape-trees.ts";
import { lazy } from "../../base/lazy.ts";
import { Failure } from "../../base/failure.ts";

const shapeTrees = lazy<typeof import("./shape-trees.ts")>(() => require("./shape-trees.ts"));

/** Values within values, this deep: what is deeper is shown as its members. */
const deepest = 4;
/** The shape of a struct in place or behind a pointer. */
export function shapeOf(type: Type): Shape | undefined {
  const of = shapedIn(type);
  return of?.shape;
}

/** What of a type has a shape: itself, or what it points to. */
function shapedIn(type: Type): StructType | PointerType | undefined {
  if (type.kind === "pointer" && type.shape !== undefined) return type;
  const struct = type.kind === "pointer" ? type.target : type;
  return struct.kind === "struct" ? struct : undefined;
}

const shaped = new WeakMap<StructType, boolean>();

/** Whether a struct, or something in it, is more than its bytes tell. */
export function isShaped(type: Type): boolean {
  if (type.kind === "pointer") return type.shape !== undefined;
  if (type.kind !== "struct" || !("shape" in type)) return false;
  let known = shaped.get(type);
  if (known === undefined) {
    shaped.set(type, false);
    known = type.shape !== undefined || type.variants !== undefined || memberShaped(type);
    shaped.set(type, known);
  }
  return known;
}

function memberShaped(type: StructType): boolean {
  return !type.union && type.members.some((member) => member.absent === undefined && isShaped(member.type));
}

/** How deep in other values the trees are that are made here. */
const levels = new WeakMap<Expression, number>();
/** What stands for a node of one type: the same tree in every pass, whose variables are known by their nodes. */
const made = new WeakMap<Expression, Map<StructType | PointerType, Expression>>();

/** Loaded where a script uses such a value. */
function maker(node: Expression, type: StructType | PointerType, level: number, body: Body): TreeMaker {
  const { TreeMaker } = shapeTrees();
  return new TreeMaker({ node, type, level, body, levels, isShaped });
}

/** A value of a library as its language shows it; anything else as it is. `node` is `value` before it was checked. */
export function asShown(node: Expression, value: Expression, body: Body): Expression {
  const { type } = value;
  if (node.kind === "builtin" && type.kind === "record") return shownRecord(node, type, value, body);
  if ((type.kind !== "struct" && type.kind !== "pointer") || !isShaped(type) || !isPath(node)) return value;
  const level = levels.get(node) ?? 0;
  if (level > deepest) return value;
  needsKernel(body, "reading memory", node.span);
  let trees = made.get(node);
  if (trees === undefined) made.set(node, (trees = new Map()));
  let tree = trees.get(type);
  if (tree === undefined) trees.set(type, (tree = maker(node, type, level, body).whole()));
  const shown = body.pass.expression(tree, body);
  return isPath(tree) ? asShown(tree, shown, body) : shown;
}

const loops = new WeakMap<Statement, Map<StructType | PointerType, Statement>>();

/** A loop over the elements of a value, as a loop over numbers; undefined where it has none. */
export function asLoop(node: Extract<Statement, { kind: "for-value" }>, body: Body): Statement | undefined {
  const { of } = node;
  const struct = shapedIn(body.pass.expression(of, body).type);
  if (struct?.shape === undefined || !["list", "set", "mapping"].includes(struct.shape.form) || !isPath(of))
    return undefined;
  let trees = loops.get(node);
  if (trees === undefined) loops.set(node, (trees = new Map()));
  let tree = trees.get(struct);
  if (tree === undefined) trees.set(struct, (tree = maker(of, struct, 0, body).loop(node)));
  return tree;
}

const records = new WeakMap<Expression, Map<Context, Expression>>();

/** All arguments, or all variables, each as its language shows it. */
function shownRecord(node: Builtin, type: RecordType, value: Expression, body: Body): Expression {
  const { context } = body;
  if (context === undefined || context === "host" || !type.fields.some((field) => isShaped(field.type))) return value;
  const all =
    node.name === "args" ? context.args : context.variables instanceof Failure ? undefined : context.variables?.inScope;
  // Of two variables with one name the name means one.
  if (all === undefined || new Set(all.map(({ name }) => name)).size !== all.length) return value;
  let trees = records.get(node);
  if (trees === undefined) records.set(node, (trees = new Map()));
  let tree = trees.get(context);
  if (tree === undefined) {
    const { span } = node;
    const fields = all.map(({ name, absent }) => ({
      name,
      value:
        absent === undefined
          ? ({ kind: "member", object: node, name, nameSpan: span, span, type: unknownType } as const)
          : ({ kind: "string", value: absentText(absent), span, type: unknownType } as const),
    }));
    for (const field of fields) levels.set(field.value, 1);
    trees.set(context, (tree = { kind: "record", fields, span, type: unknownType }));
  }
  return body.pass.expression(tree, body);
}

/** How many elements or bytes a value has, in a program or copied; undefined where it has none. */
export function lengthOf(node: Expression, place: Expression, body: Body): Expression | undefined {
  const { type } = place;
  if (type.kind !== "sequence") return shownLength(node, type, body);
  return {
    kind: "member",
    object: place,
    name: "",
    nameSpan: node.span,
    span: node.span,
    path: { container: type, offset: 0 },
    type: u64,
  };
}

function shownLength(node: Expression, type: Type, body: Body): Expression | undefined {
  const struct = shapedIn(type);
  if (struct?.shape?.parts.has("length") !== true || !isPath(node)) return undefined;
  return body.pass.expression(maker(node, struct, 0, body).part("length"), body);
}

/** Where the elements begin, of those that lie side by side: a pointer to the first. */
export function shownData(node: Expression, type: Type, body: Body): Expression | undefined {
  const struct = shapedIn(type);
  if (struct?.shape?.parts.has("data") !== true || struct.shape.form === "pointer" || !isPath(node)) return undefined;
  return body.pass.expression(maker(node, struct, 0, body).part("data"), body);
}

/** A place that may be read again and again. */
function isPath(node: Expression): boolean {
  switch (node.kind) {
    case "builtin":
    case "variable":
    case "integer":
    case "sizeof":
      return true;
    case "conditional":
      return isPath(node.condition) && isPath(node.then) && isPath(node.otherwise);
    case "member":
      return isPath(node.object);
    case "index":
      return isPath(node.object) && isPath(node.index);
    case "unary":
      return isPath(node.operand);
    case "binary":
      return isPath(node.left) && isPath(node.right);
    case "cast":
      return isPath(node.operand);
    case "call":
      return ["var", "uaddr", "uptr", "kptr", "reg"].includes(node.name);
    default:
      return false;
  }
}
