// Expressions as values of the tree: numbers are its int64, texts its strings.
import { Failure } from "../../base/failure.ts";
import type { Span } from "../diagnostic.ts";
import { systemtap } from "../../messages/systemtap.ts";
import type { BinaryOperator, DescribedGroup, Expression, MapAccess, Variable } from "../program.ts";
import type { Text } from "./library/function.ts";
import { libraryFunction, printers } from "./library.ts";
import { printedText } from "./printing.ts";
import { toPattern } from "./patterns.ts";
import type { Expr, Step, TargetExpr } from "./syntax.ts";
import { bucketsOf, histogramOf } from "./histograms.ts";
import { visitNodes } from "./names.ts";
import { isCondition } from "./conditions.ts";
import * as tree from "./tree.ts";
import { isKernels, typedSource } from "./typed-values.ts";
import type { Unit } from "./unit.ts";

export function value(e: Expr, unit: Unit): Expression {
  const { span } = e;
  switch (e.kind) {
    case "number":
      return tree.integer(e.value, span);
    case "string":
      return tree.text(e.value, span);
    case "name": {
      const meant = unit.texts.get(e.name);
      return meant === undefined ? storage(e, unit) : value(meant, unit);
    }
    case "element":
      return storage(e, unit);
    case "call":
      return called(e, unit);
    case "target":
      return targetValue(e, unit);
    case "operator":
      return operator(e, unit);
    case "statistics": {
      const of = storage(e.of, unit);
      if (of.kind !== "map") return of;
      const found = tree.result(of, e.operator, [], span);
      return tree.toLong(e.operator === "sum" ? { ...found, orZero: true } : found);
    }
    case "histogram": {
      if (e.index === undefined) return unit.refuse(span, systemtap.notHere("@hist_log", "but in print()"));
      const of = storage(e.of, unit);
      if (of.kind !== "map") return of;
      const index = value(e.index, unit);
      if (e.index.kind === "number" && (e.index.value < 0n || e.index.value >= bucketsOf(e)))
        unit.before.push({ kind: "throw", value: tree.text("histogram index out of range", span), span });
      return tree.toLong({
        ...tree.result(of, ...histogramOf(e), span),
        // Theirs have one for what is below all others, in which there is never anything.
        bucket: e.linear ? index : tree.binary("-", index, tree.integer(1, span), span),
      });
    }
    case "unary":
      if (e.operator === "!") return asNumber(condition(e, unit));
      return { kind: "unary", operator: e.operator, operand: value(e.operand, unit), span, type: { kind: "unknown" } };
    case "binary":
      if (isCondition(e)) return asNumber(condition(e, unit));
      if (e.operator === ".") return joined(value(e.left, unit), value(e.right, unit), e);
      return tree.binary(e.operator as BinaryOperator, value(e.left, unit), operand(e, unit), atSign(e));
    case "in":
      return asNumber(condition(e, unit));
    case "conditional": {
      const known = decided(e.condition, unit);
      if (known !== undefined) return value(known ? e.then : e.otherwise, unit);
      return tree.conditional(condition(e.condition, unit), value(e.then, unit), value(e.otherwise, unit), span);
    }
    case "assign": {
      if (e.operator === "<<<") return unit.refuse(span, systemtap.notHere("`<<<`", "in an expression"));
      const target = storage(e.target, unit);
      if (target.kind !== "variable" && target.kind !== "map") return target;
      const { operator: of, value: given } = assigned(e, target, unit);
      return { kind: "assignment", target, operator: of, value: given, span: atSign(e), type: { kind: "unknown" } };
    }
    case "increment": {
      const target = storage(e.target, unit);
      if (target.kind !== "variable" && target.kind !== "map") return target;
      return { kind: "increment", target, delta: e.delta, prefix: e.prefix, span, type: { kind: "unknown" } };
    }
  }
}

/** What stands on the right. Shifts take the last six bits of a number, as x86-64 and BPF do; a written one too. */
function operand({ operator, right }: Extract<Expr, { kind: "binary" }>, unit: Unit): Expression {
  const isShift = operator === "<<" || operator === ">>";
  return isShift && right.kind === "number" ? tree.integer(right.value & 63n, right.span) : value(right, unit);
}

/** A division is told of by where its sign stands. */
export function atSign({ operator, sign, span }: Extract<Expr, { kind: "binary" | "assign" }>): Span {
  return sign !== undefined && /^[/%]/.test(operator) ? sign : span;
}

/** What an assignment's operator and value are in the tree. */
export function assigned(
  e: Extract<Expr, { kind: "assign" }>,
  target: Variable | MapAccess,
  unit: Unit,
): { readonly operator: BinaryOperator | null; readonly value: Expression } {
  const given = value(e.value, unit);
  if (e.operator === "=") return { operator: null, value: given };
  if (e.operator === ".=") return { operator: null, value: joined(target, given, e) };
  return { operator: e.operator.slice(0, -1) as BinaryOperator, value: given };
}

function joined(left: Expression, right: Expression, { span }: Expr): Expression {
  return tree.call(
    "str",
    [tree.call("str_concat", [left, right], span), tree.integer(tree.longestText - 1, span)],
    span,
  );
}

function asNumber(of: Expression): Expression {
  return tree.conditional(of, tree.integer(1, of.span), tree.integer(0, of.span), of.span);
}

/** A variable or a map. */
export function storage(e: Expr, unit: Unit): Expression {
  switch (e.kind) {
    case "name":
      if (
        unit.scope.function?.definition.parameters.some(({ name }) => name === e.name) !== true &&
        unit.types.globals.has(e.name)
      )
        return tree.map(e.name, [], e.span);
      return tree.variable(e.name, e.span);
    case "element":
      return tree.map(
        e.name,
        e.keys.map((key) =>
          key === undefined
            ? unit.refuse(e.span, systemtap.notHere("`*`", "as a key of an element"))
            : value(key, unit),
        ),
        e.span,
      );
    case "target":
      return unit.refuse(e.span, systemtap.guru());
    default:
      return unit.refuse(e.span, systemtap.expected("a variable or an element", "another value"));
  }
}

// ── conditions ──

/** Whether `@defined(…)` is true, where the probe point tells: what is not there has no meaning. */
export function decided(e: Expr, unit: Unit): boolean | undefined {
  if (e.kind === "unary" && e.operator === "!") {
    const of = decided(e.operand, unit);
    return of === undefined ? undefined : !of;
  }
  if (e.kind !== "operator" || (e.name !== "defined" && e.name !== "probewrite")) return undefined;
  const found = operator(e, unit);
  return found.kind === "integer" ? found.value !== 0n : undefined;
}

export function condition(e: Expr, unit: Unit): Expression {
  const { span } = e;
  switch (e.kind) {
    case "unary":
      if (e.operator === "!") return tree.not(condition(e.operand, unit));
      break;
    case "binary":
      switch (e.operator) {
        case "&&":
        case "||":
          return tree.binary(e.operator, condition(e.left, unit), condition(e.right, unit), span);
        case "=~":
        case "!~":
          return matched(e, unit);
        case "==":
        case "!=":
        case "<":
        case "<=":
        case ">":
        case ">=":
          return tree.binary(e.operator, value(e.left, unit), value(e.right, unit), span);
        default:
          break;
      }
      break;
    case "in": {
      if (e.keys.includes(undefined)) return isAny(e, unit);
      const keys = e.keys.map((key) => value(key!, unit));
      const key: Expression =
        keys.length === 1 ? keys[0] : { kind: "tuple", elements: keys, span, type: { kind: "unknown" } };
      return tree.call("has_key", [tree.map(e.array, [], span), key], span);
    }
    case "call":
      if (e.name === "isinstr" && unit.types.function(e.name, 2) === undefined && e.args.length === 2)
        return tree.call(
          "strcontains",
          e.args.map((arg) => value(arg, unit)),
          span,
        );
      break;
    default:
      break;
  }
  return tree.binary("!=", value(e, unit), tree.integer(0, span), span);
}

/** `[1, *] in a`: a loop before the statement looks. */
function isAny({ keys, array, span }: Extract<Expr, { kind: "in" }>, unit: Unit): Expression {
  const found = tree.variable(unit.shared.name("found"), span);
  unit.before.push(tree.declare(found.name, tree.integer(0, span), tree.longType(span)), {
    kind: "for-map",
    variable: tree.variable(unit.shared.name("entry"), span),
    map: tree.map(array, [], span),
    keys: keys.map(() => tree.variable(unit.shared.name("key"), span)),
    slice: keys.map((one) => (one === undefined ? undefined : value(one, unit))),
    limit: tree.integer(1, span),
    body: tree.block([tree.assign(found, tree.integer(1, span), span)], span),
    span,
  });
  return tree.binary("!=", found, tree.integer(0, span), span);
}

/** Text that is searched for, alone, at the beginning or all, is found in the kernel; the rest is the host's. */
function matched(e: Extract<Expr, { kind: "binary" }>, unit: Unit): Expression {
  const { span } = e;
  const pattern = e.right.kind === "string" ? e.right.value : undefined;
  if (pattern === undefined)
    return unit.refuse(span, systemtap.expected("a string literal as the regular expression", "another value"));
  const [, start, plain, end] = /^(\^?)((?:[^.*+?()[\]{}|\\^$]|\\[.*+?()[\]{}|\\^$])*)(\$?)$/.exec(pattern) ?? [];
  if (plain === undefined || (start === "" && end === "$") || unit.types.matches) {
    const expression = toPattern(pattern);
    if (expression instanceof Failure) return unit.refuse(e.right.span, systemtap.regex(pattern, expression.reason));
    const is = tree.binary(
      "!=",
      tree.hostText("matchesPattern", [value(e.left, unit), tree.text(expression, e.right.span)], span),
      tree.integer(0, span),
      span,
    );
    return e.operator === "=~" ? is : tree.not(is);
  }
  const text = tree.text(plain.replaceAll(/\\(.)/g, "$1"), e.right.span);
  const of = value(e.left, unit);
  const found =
    start === ""
      ? tree.call("strcontains", [of, text], span)
      : end === "$"
        ? tree.binary("==", of, text, span)
        : tree.binary(
            "==",
            tree.call(
              "strncmp",
              [of, text, tree.integer(Buffer.byteLength(text.kind === "string" ? text.value : ""), span)],
              span,
            ),
            tree.integer(0, span),
            span,
          );
  return e.operator === "=~" ? found : tree.not(found);
}

// ── calls ──

function called(e: Extract<Expr, { kind: "call" }>, unit: Unit): Expression {
  const { span } = e;
  const own = unit.types.function(e.name, e.args.length);
  if (own !== undefined)
    return tree.call(
      unit.nameOf(own),
      e.args.map((arg) => value(arg, unit)),
      span,
    );
  if (printers.has(e.name)) {
    if (!e.name.startsWith("s")) return unit.refuse(span, systemtap.notHere(`${e.name}()`, "in an expression"));
    return stored(
      unit.storing(() => printedText(e, unit)),
      e,
    );
  }
  const known = libraryFunction(e.name);
  // It was said already that there is none.
  if (known === undefined) return tree.integer(0, span);
  if (known.does !== undefined)
    return unit.refuse(span, systemtap.notHere(`${e.name}()`, "in an expression: it gives no value"));
  const args = e.args.map((arg) => value(arg, unit));
  if (args.length < (known.least ?? known.parameters.length)) return tree.integer(0, span);
  if (known.value !== undefined) return known.value(args, span, unit);
  return stored(known.text!(args, span, unit), e);
}

/** Text as a value: the host puts it together, where it is more than one text. */
function stored({ format, args }: Text, e: Expr): Expression {
  if (args.length === 0) return tree.text(format.replaceAll("%%", "%"), e.span);
  if (format === "%s" && args.length === 1) return args[0];
  return tree.hostText("formattedText", [tree.text(format, e.span), ...args], e.span);
}

// ── what the traced program or kernel has ──

function targetValue(e: TargetExpr, unit: Unit): Expression {
  if (e.base.kind === "name" && e.base.name.startsWith("$")) return group(e, e.base.name, unit);
  if (e.pretty > 0)
    return { kind: "described", of: place(e, unit), depth: e.pretty, span: e.span, type: { kind: "unknown" } };
  const now = e.base.kind !== "name" || e.base.name === "return" || isOfResult(e.base.name, unit);
  if (unit.where.returns && !now) return atEntry(e, unit);
  return number(e, unit);
}

/** Where a system call returns: what its event has itself. */
function isOfResult(name: string, { where: { result } }: Unit): boolean {
  return result !== undefined && (name === result || name === "__syscall_nr");
}

function number(e: TargetExpr, unit: Unit): Expression {
  return tree.toLong(objectOf(e, unit));
}

function objectOf(e: TargetExpr, unit: Unit): Expression {
  const found = place(e, unit);
  // `@cast(…)` itself is an address already.
  const isAddress = e.steps.length === 0 && e.base.kind === "cast";
  return e.address && !isAddress
    ? { kind: "unary", operator: "&", operand: found, span: e.span, type: { kind: "unknown" } }
    : found;
}

/** The value as the program has it: a struct is one. */
function place(e: TargetExpr, unit: Unit): Expression {
  return e.steps.reduce((object, step) => stepped(object, step, unit), base(e, unit));
}

function stepped(object: Expression, step: Step, unit: Unit): Expression {
  if ("member" in step) return tree.member(object, step.member, step.span);
  return { kind: "index", object, index: value(step.index, unit), span: step.span, type: { kind: "unknown" } };
}

function base({ base: of, span }: TargetExpr, unit: Unit): Expression {
  switch (of.kind) {
    case "value": {
      const from = unit.typing.has(of.of) ? undefined : typedSource(of.of, unit);
      if (from === undefined) return unit.refuse(span, systemtap.untyped());
      unit.typing.add(of.of);
      const type = { name: "typeof", of: objectOf(from, unit), pointers: 0, dimensions: [], span };
      unit.typing.delete(of.of);
      const operand = tree.call(isKernels(from, unit) ? "kptr" : "uptr", [value(of.of, unit)], span);
      return { kind: "cast", to: type, operand, span, type: { kind: "unknown" } };
    }
    case "name":
      if (of.name === "return" && unit.where.result !== undefined)
        return tree.member(tree.builtin("args", span), unit.where.result, span);
      if (of.name === "return")
        return unit.where.returns ? tree.builtin("retval", span) : unit.refuse(span, systemtap.noReturn());
      if (unit.where.variables === "none") return unit.refuse(span, systemtap.noTargetVariables(of.name));
      {
        const argument = /^arg([1-9]\d?)$/.exec(of.name);
        // Of any system call, of which the tracepoint has the arguments as an array.
        if (argument !== null && unit.where.calls && Number(argument[1]) <= 6)
          return {
            kind: "index",
            object: tree.member(tree.builtin("args", span), "args", span),
            index: tree.integer(Number(argument[1]) - 1, span),
            span,
            type: { kind: "unknown" },
          };
        if (unit.where.calls && of.name === "syscall") return tree.member(tree.builtin("args", span), "id", span);
        // Marks number their arguments, from 1.
        if (argument !== null && unit.where.variables === "args")
          return tree.builtin(`arg${Number(argument[1]) - 1}`, span);
      }
      return tree.member(tree.builtin(unit.where.variables, span), of.name, span);
    case "var":
      if (of.module !== undefined && !isOfPlace(of.module, unit))
        return unit.refuse(span, systemtap.otherProgram(of.name, of.module));
      return tree.call("var", [tree.text(of.name, span)], span);
    case "cast": {
      const [, tag, name, stars] = /^\s*(struct|union|enum)?\s*([\w ]*\w)\s*(\**)\s*$/.exec(of.type) ?? [];
      if (name === undefined) return unit.refuse(span, systemtap.expected("a type's name", JSON.stringify(of.type)));
      const kernel = of.module?.startsWith("kernel") ?? unit.where.space === "kernel";
      const address = tree.call(kernel ? "kptr" : "uptr", [value(of.of, unit)], span);
      return {
        kind: "cast",
        to: {
          name,
          ...(tag === undefined ? {} : { tag: tag as "struct" | "union" | "enum" }),
          ...(kernel ? {} : { ofProgram: true as const }),
          pointers: 1 + stars.length,
          dimensions: [],
          span,
        },
        operand: address,
        span,
        type: { kind: "unknown" },
      };
    }
  }
}

/** Whether a program or the kernel is the one that is probed. */
function isOfPlace(module: string, { where: { space, program } }: Unit): boolean {
  if (space === "kernel") return module.startsWith("kernel");
  return program !== undefined && (program === module || program.endsWith(`/${module}`));
}

/** `$$vars` and its kin. */
function group({ span, pretty }: TargetExpr, name: string, unit: Unit): Expression {
  switch (name) {
    case "$vars":
    case "$locals":
    case "$parms":
    case "$return":
      if (unit.where.variables === "none") return unit.refuse(span, systemtap.noTargetVariables(name));
      return {
        kind: "described",
        of: unit.where.marks === true && name === "$vars" ? "parms" : (name.slice(1) as DescribedGroup),
        depth: pretty,
        ...(unit.where.marks === true ? { fromOne: true as const } : {}),
        span,
        type: { kind: "unknown" },
      };
    case "$name":
      if (unit.where.tracepoint !== undefined || unit.where.marks === true)
        return tree.call("probe_part", [tree.builtin("probe", span), tree.word("event", span)], span);
      return unit.refuse(span, systemtap.notYet("$$name"));
    case "$provider":
      if (unit.where.marks !== true) return unit.refuse(span, systemtap.notYet("$$provider"));
      return tree.call("probe_part", [tree.builtin("probe", span), tree.word("group", span)], span);
    case "$system": {
      if (unit.where.tracepoint === "tracepoint") return tree.text("", span);
      // A point without wildcards is one tracepoint, in one group.
      const [, system] = /^kernel\.trace\("([^:*?[{]+):/.exec(unit.where.text ?? "") ?? [];
      if (system !== undefined) return tree.text(system, span);
      return unit.refuse(span, systemtap.notYet("$$system"));
    }
    default:
      return unit.refuse(span, systemtap.notYet(`$${name}`));
  }
}

/** `$x` in a `.return` probe, and `@entry(…)`: what it was when the function was entered. */
function atEntry(e: Expr, unit: Unit): Expression {
  const key = JSON.stringify(e, (name, part: unknown) =>
    name === "span" ? undefined : typeof part === "bigint" ? String(part) : part,
  );
  let known = unit.entries.get(key);
  if (known === undefined) {
    known = {
      name: unit.shared.name("entry"),
      value: (there) => (e.kind === "target" ? number(e, there) : value(e, there)),
      span: e.span,
    };
    unit.entries.set(key, known);
  }
  return tree.variable(known.name, e.span);
}

function operator(e: Extract<Expr, { kind: "operator" }>, unit: Unit): Expression {
  const { span } = e;
  const [first] = e.args;
  switch (e.name) {
    case "entry":
      if (first === undefined || !unit.where.returns)
        return unit.refuse(span, systemtap.notHere("@entry", "but in `.return` probes"));
      return atEntry(first, unit);
    case "defined":
      return defined(e, unit);
    case "enum":
      if (first?.kind !== "string") break;
      if (unit.where.program !== undefined)
        return tree.toLong({ kind: "identifier", name: first.value, ofProgram: true, span, type: { kind: "unknown" } });
      return tree.toLong(tree.word(first.value, span));
    case "const":
      if (first?.kind !== "string") break;
      return tree.toLong(tree.word(first.value, span));
    case "kderef":
    case "uderef": {
      if (first?.kind !== "number" || e.args.length !== 2) break;
      const type = { 1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64" }[Number(first.value)];
      if (type === undefined) break;
      const operand = tree.call(
        e.name === "kderef" ? "kptr" : "uptr",
        [
          {
            kind: "cast",
            to: { name: type, pointers: 1, dimensions: [], span },
            operand: value(e.args[1], unit),
            span,
            type: { kind: "unknown" },
          },
        ],
        span,
      );
      return tree.toLong({ kind: "unary", operator: "*", operand, span, type: { kind: "unknown" } });
    }
    case "enumname": {
      const named = enumerator(e, unit);
      if (named === undefined) return unit.refuse(span, systemtap.expected("a type in quotes", "none"));
      return { kind: "described", of: named, depth: "name", span, type: { kind: "unknown" } };
    }
    case "probewrite":
      return tree.integer(isWritten(first, unit) ? 1 : 0, span);
    default:
      break;
  }
  return unit.refuse(span, systemtap.notYet(`@${e.name}`));
}

/** Whether the handler stores in a variable: what aliases have around it asks that. */
function isWritten(of: Expr | undefined, { body }: Unit): boolean {
  const written = (e: Expr | undefined): string | undefined =>
    e?.kind === "target" && e.base.kind === "name" ? `$${e.base.name}` : e?.kind === "name" ? e.name : undefined;
  let found = false;
  visitNodes(body, (node) => {
    if (node.kind !== "assign" && node.kind !== "increment" && node.kind !== "delete") return;
    if (written(node.target) !== undefined && written(node.target) === written(of)) found = true;
  });
  return found;
}

/** `@enumname(flags, "enum foo", "kernel")`, `@enumname($state)`: a value's name, or its digits where it has none. */
function enumerator({ args, span }: Extract<Expr, { kind: "operator" }>, unit: Unit): Expression | undefined {
  const [of, type, module] = args;
  if (of?.kind === "target" && type === undefined) return place(of, unit);
  if (of === undefined || type?.kind !== "string") return undefined;
  const name = type.value.replace(/^\s*enum\s+/, "").trim();
  const ofProgram = module?.kind === "string" ? !module.value.startsWith("kernel") : unit.where.space === "user";
  // What is written may have no name; a sum of it is a value like any other.
  const number =
    of.kind === "number" ? tree.binary("+", value(of, unit), tree.integer(0, span), span) : value(of, unit);
  const to = { name, tag: "enum", ...(ofProgram ? { ofProgram } : {}), pointers: 0, dimensions: [], span } as const;
  return { kind: "cast", to, operand: number, span, type: { kind: "unknown" } };
}

/** Whether there is such a variable: the checker knows, but where the probe point tells. */
function defined(e: Extract<Expr, { kind: "operator" }>, unit: Unit): Expression {
  const { span } = e;
  const [of] = e.args;
  if (of?.kind !== "target") return tree.integer(1, span);
  const isVariable = of.base.kind === "name" && !of.base.name.startsWith("$");
  if (of.base.kind === "name") {
    if (/^\$?return$/.test(of.base.name) && !unit.where.returns) return tree.integer(0, span);
    if (of.base.name !== "return" && unit.where.variables === "none") return tree.integer(0, span);
  }
  // Of the function's entry, whose variables are those.
  const there = isVariable && unit.where.returns ? place(of, unit) : value(of, unit);
  return tree.conditional(
    { kind: "presence", asks: "sense", of: there, span, type: { kind: "unknown" } },
    tree.integer(1, span),
    tree.integer(0, span),
    span,
  );
}
