// Which builtins a probe's body mentions: so that a provider can leave out what nobody reads.
import type { Block, Described, FunctionDeclaration, Probe } from "../program.ts";

/**
 * Names of builtins and calls in the probe, and in the script's functions (any of which it may call). What is read of
 * `args` as well: `args.NAME`, or `args.*` where it is used as a whole; `var.NAME` of the program's variables,
 * `var.*NAME` where what one points to is looked at (of `args` too); `vars.*` where `args` or `vars` as a whole are
 * more than printed. `sense` where the handler asks what there is: places that lack something are no mistakes then.
 */
export function usedBuiltins(probe: Probe, functions: readonly FunctionDeclaration[]): ReadonlySet<string> {
  const names = new Set<string>();
  collect([probe.predicate, probe.body, ...functions.map((f) => f.body)], names);
  return names;
}

/** Those of a function's body. */
export function namesIn(body: Block): ReadonlySet<string> {
  const names = new Set<string>();
  collect(body, names);
  return names;
}

/** Whether a probe's handler is let through in any process, whichever are chosen: its predicate says `any_process`. */
export function isOfAnyProcess({ predicate }: Probe): boolean {
  const names = new Set<string>();
  collect([predicate], names);
  return names.has("any_process");
}

function isBuiltin(node: unknown, name: string): boolean {
  return (
    typeof node === "object" &&
    node !== null &&
    "kind" in node &&
    node.kind === "builtin" &&
    "name" in node &&
    node.name === name
  );
}

function isText(node: unknown): node is { readonly value: string } {
  return (
    typeof node === "object" &&
    node !== null &&
    "kind" in node &&
    node.kind === "string" &&
    "value" in node &&
    typeof node.value === "string"
  );
}

/** The variable of the program that a node is: `args.x`, `vars.x` or `var("x")`. */
function variableNamed(node: unknown): string | undefined {
  if (
    typeof node !== "object" ||
    node === null ||
    !("kind" in node) ||
    !("name" in node) ||
    typeof node.name !== "string"
  )
    return undefined;
  if (node.kind === "member" && "object" in node && (isBuiltin(node.object, "args") || isBuiltin(node.object, "vars")))
    return node.name;
  const [first] = (
    node.kind === "call" && node.name === "var" && "args" in node && Array.isArray(node.args) ? node.args : []
  ) as unknown[];
  return isText(first) ? first.value : undefined;
}

/** What a node looks at behind a pointer. */
function behind(node: object): unknown {
  if (!("kind" in node)) return undefined;
  if (node.kind === "member") return "object" in node ? node.object : undefined;
  return node.kind === "unary" && "operator" in node && node.operator === "*" && "operand" in node
    ? node.operand
    : undefined;
}

/**
 * The tree is plain data: whatever has the shape of a builtin or a call is one. Types are left alone, they reach far.
 */
function collect(node: object, names: Set<string>): void {
  if (Array.isArray(node)) {
    for (const item of node as unknown[]) if (typeof item === "object" && item !== null) collect(item, names);
    return;
  }
  if ("kind" in node && isNoted(node, node.kind, names)) return;
  const parts = node as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(parts)) {
    const part = parts[key];
    if (typeof part === "object" && part !== null && key !== "type" && key !== "span" && key !== "nameSpan")
      collect(part, names);
  }
}

function noteDescribed({ of }: Described, names: Set<string>): void {
  names.add("sense");
  if (of === "return") names.add("retval");
  else if (typeof of === "string") names.add("args").add("args.*").add("vars").add("vars.*");
}

/** Notes what a node itself says; true when that is all there is to it. */
function isNoted(node: object, kind: unknown, names: Set<string>): boolean {
  switch (kind) {
    case "member":
    case "index":
    case "unary":
    case "call":
    case "builtin":
    case "identifier":
      break;
    case "presence":
      if ("asks" in node && node.asks === "sense") names.add("sense");
      return false;
    case "described":
      noteDescribed(node as Described, names);
      return false;
    default:
      return false;
  }
  const pointer = variableNamed(behind(node));
  if (pointer !== undefined) names.add(`var.*${pointer}`);
  if (!("name" in node) || typeof node.name !== "string") return false;
  if (kind === "member") {
    if (!("object" in node)) return false;
    const owner = isBuiltin(node.object, "args") ? "args" : isBuiltin(node.object, "vars") ? "var" : undefined;
    if (owner === undefined) return false;
    names.add(owner).add(`${owner}.${node.name}`);
    return true;
  }
  if (kind === "call" && node.name === "var" && "args" in node && Array.isArray(node.args)) {
    for (const arg of node.args as unknown[]) if (isText(arg)) names.add(`var.${arg.value}`);
  }
  if (kind === "call" && node.name === "print" && "args" in node && Array.isArray(node.args)) {
    names.add("print");
    for (const arg of node.args as unknown[]) {
      if (isBuiltin(arg, "args")) names.add("args").add("args.*");
      else if (isBuiltin(arg, "vars")) names.add("vars");
      else if (typeof arg === "object" && arg !== null) collect(arg, names);
    }
    return true;
  }
  if (kind === "builtin" && node.name === "args") names.add("args.*");
  // More than shown: what it is has one type.
  if (kind === "builtin" && (node.name === "args" || node.name === "vars")) names.add("vars.*");
  if (kind === "builtin" || kind === "call" || kind === "identifier") names.add(node.name);
  return false;
}

/** Whether the handler reads arguments by number. The builtin table calls all of them `argN`. */
export function usesNumbered(uses: ReadonlySet<string>): boolean {
  for (const name of uses) if (/^arg(N|\d+)$/.test(name)) return true;
  return false;
}
