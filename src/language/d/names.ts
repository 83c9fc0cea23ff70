// What a name in an expression is: a variable, a constant, an inline definition, a symbol, a macro, a call.
import { dCalls } from "../../messages/d-calls.ts";
import { dDescriptions } from "../../messages/d-descriptions.ts";
import { dExpressions } from "../../messages/d-expressions.ts";
import { dNames } from "../../messages/d-names.ts";
import { dPreprocessor } from "../../messages/d-preprocessor.ts";
import { dSyntax } from "../../messages/d-syntax.ts";
import type { Span } from "../diagnostic.ts";
import { nearest } from "../nearest.ts";
import * as nodes from "../nodes.ts";
import type { Expression, Variable } from "../program.ts";
import { libraryConstant } from "./constants.ts";
import { libraryFunction, libraryNames, libraryTexts } from "./library.ts";
import { checked } from "./raise.ts";
import { givesNull, unlessEmpty } from "./nulls.ts";
import { place } from "./places.ts";
import { macroText, macroToken } from "./preprocess.ts";
import { checkCount, checkIndexes, checkKeys, checkKeyTypes, checkPrototype } from "./prototypes.ts";
import { stableProbe } from "./stable-probes.ts";
import { isReserved } from "./tokens.ts";
import { readText, translate, withParameters, xlate, type ReadExpression } from "./translators.ts";
import { constantValue } from "./type-names.ts";
import { isNumber, knownType, spelledType, type Known } from "./types.ts";
import type { Inline, Unit } from "./unit.ts";
import { builtinVariable, isBuiltIn } from "./variables.ts";

/** How expressions are read where a name stands in front of some (expressions.ts). */
export interface Readers {
  readonly expression: ReadExpression;
  /** `[a, b]` */
  readonly keys: (unit: Unit) => Expression[];
  /** `(a, b)` */
  readonly args: (unit: Unit) => Expression[];
}
/** Its first bytes, as far as they are whole characters. */
export function cutText(text: string, most: number): string {
  const bytes = Buffer.from(text);
  return bytes.length <= most
    ? text
    : bytes
        .subarray(0, most)
        .toString()
        .replace(/\ufffd$/, "");
}

/** `` `symbol ``, behind the backquote. */
export function external(unit: Unit, start: Span): Expression {
  const p = unit.cursor;
  let { text } = p.expectName("a symbol");
  // In front of the backquote, or behind the first of two.
  let module = p.source.text[start.start] === "`" ? "" : p.source.text.slice(start.start, start.end);
  if (p.accept("`")) {
    module = text;
    ({ text } = p.expectName("a symbol"));
  }
  const span = p.from(start);
  if (module !== "" && module !== "vmlinux" && unit.given.machine?.hasModule?.(module) === false)
    p.fail(dNames.unknownModule(p.source.text.slice(span.start, span.end)), span);
  return nodes.call("var", [nodes.text(text, span)], span);
}

export function macro(unit: Unit, text: string, span: Span, { expression }: Readers): Expression {
  const plain = { start: span.start, end: span.end };
  unit.usedMacros.add(text.replace(/^\$\$?/, ""));
  if (/^\$\$?target$/.test(text) && unit.given.target === "command")
    return unit.cast("int32", nodes.builtin("cpid", plain));
  const meant = macroText(text, unit.given);
  if (meant !== undefined && /^[0-9]+$/.test(meant) && !text.startsWith("$$") && BigInt(meant) >= 1n << 64n)
    return unit.cursor.fail(dPreprocessor.macroOverflow(text, meant), plain);
  if (meant === undefined) {
    if (text === "$target") return unit.typed(nodes.integer(0, plain), "int32");
    if (text === "$$target") return unit.typed(nodes.text("0", plain), "string");
    if (!unit.options.defaultargs || !/\d$/.test(text))
      return unit.cursor.fail(dPreprocessor.macroUndefined(text), plain);
    return text.startsWith("$$")
      ? unit.typed(nodes.text("", plain), "string")
      : unit.typed(nodes.integer(0, plain), "int32");
  }
  const negative = /^-\d/.test(meant) && !text.startsWith("$$");
  const token = macroToken({ kind: "macro", text, ...plain }, negative ? meant.slice(1) : meant);
  if (token.kind === "string") return unit.typed(nodes.text(token.value ?? "", plain), "string");
  if (token.kind === "number" && token.problem === undefined && token.number !== undefined) {
    const value = unit.typed(nodes.integer(negative ? -token.number : token.number, plain), token.type);
    return value;
  }
  if (token.kind === "identifier") {
    const known = builtinVariable(meant, plain, unit, expression);
    if (known !== undefined) return known;
  }
  return unit.cursor.fail(dNames.unknownVariable(meant, `$$${text.slice(1)} is the argument as text`), plain);
}

export function name(unit: Unit, read: Readers): Expression {
  const p = unit.cursor;
  const token = p.advance();
  const span = { start: token.start, end: token.end };
  const { text } = token;
  if ((text === "self" || text === "this") && p.at("->")) {
    p.advance();
    const member = p.expectName("a variable's name");
    return local(unit, text, member.text, p.from(token), read);
  }
  if (text === "xlate" && p.at("<")) return xlate(unit, span, read.expression);
  if (p.at("(")) return called(unit, text, token, read);
  if (p.at("`")) {
    p.advance();
    return external(unit, span);
  }
  if ((text === "args" || text === "uregs" || text === "regs") && !p.at("[") && !p.at("->") && !p.at("."))
    p.fail(dNames.notAScalar("associative array", text), span);
  if (isReserved(text)) p.fail(dSyntax.near(`"${text}"`, "an expression"), span);
  const inline = unit.inlines.get(text);
  if (inline !== undefined && inline.parameters !== undefined)
    return applied(unit, inline, inline.parameters, token, read);
  if (inline !== undefined) return unit.typed({ ...inline.value, span }, inline.known);
  const number = unit.constants.get(text);
  if (number !== undefined) return unit.typed(nodes.integer(number, span), "int32");
  if (unit.globals.get(text) === undefined) {
    const number = libraryConstant(text);
    if (number !== undefined) return unit.typed(nodes.integer(number, span), "int32");
    const known = builtinVariable(text, span, unit, read.expression);
    if (known !== undefined) return known;
  }
  const storage = unit.globals.get(text);
  const keys = (storage?.keyed ?? true) && p.at("[") ? read.keys(unit) : [];
  if (storage?.keyTypes !== undefined) checkKeys(unit, text, keys, storage.keyTypes, span);
  else if (storage?.keyed === true && keys.length === 0 && storage.dimensions === undefined)
    p.fail(dNames.notAScalar("associative array", text), span);
  else if (storage?.keyKnown !== undefined) checkKeyTypes(unit, text, keys, storage.keyKnown, p.from(token));
  else if (storage === undefined && keys.length === 0) {
    const kind = kindOfFunction(unit, text);
    if (kind !== undefined) p.fail(dNames.notAScalar(kind, text), span);
  }
  if (storage?.dimensions !== undefined && storage.type !== undefined && keys.length === 0 && p.at("=")) {
    const { dimensions } = storage.type;
    const type = `${spelledType({ ...storage.type, dimensions: [] })} ${dimensions.map((one) => `[${one}]`).join("")}`;
    p.fail(dExpressions.notOfType("=", type), span);
  }
  while (keys.length < (storage?.dimensions ?? 0) && p.at("[")) keys.push(...read.keys(unit));
  if (storage?.dimensions !== undefined && storage.type !== undefined) {
    checkIndexes(unit, keys, storage.type);
    const sizes = storage.type.dimensions;
    for (const [i, key] of keys.entries())
      if (constantValue(key, unit) === undefined && i < sizes.length) {
        const isOutside = (of: Expression): Expression =>
          nodes.binary(">=", unit.cast("uint64", of), nodes.integer(sizes[i], span), span);
        keys[i] = unit.cast("int32", checked(unit, key, "index", isOutside, span));
      }
  }
  return place(unit, {
    storage,
    target: nodes.map(`${text}#0`, keys, p.from(token)),
    written: text,
    declare: (known) =>
      unit.globals.set(text, {
        known,
        keyed: keys.length > 0,
        ...(keys.length === 0 ? {} : { keyKnown: keys.map((key) => unit.known(key)) }),
      }),
  });
}

/** What DTrace calls a function of its own; undefined of any other name. */
export function kindOfFunction({ statements }: Unit, name: string): string | undefined {
  if (statements.aggregating.has(name)) return "aggregating function";
  // What names a symbol is both; stacks, and what copies memory, are subroutines.
  const acts = statements.actions.has(name) && !/^(?:u?stack|bcopy|copyinto|copyout(?:str)?)$/.test(name);
  if (acts) return "tracing function";
  const isKnown =
    statements.actions.has(name) || libraryFunction(name) !== undefined || Object.hasOwn(libraryTexts, name);
  return isKnown ? "function" : undefined;
}

/** `f[x]` of `inline int f[int n] = n * 2;`: its words, with what stands in the brackets for its parameters. */
function applied(
  unit: Unit,
  inline: Inline,
  parameters: NonNullable<Inline["parameters"]>,
  token: Span,
  read: Readers,
): Expression {
  const p = unit.cursor;
  const name = p.source.text.slice(token.start, token.end);
  const given = p.at("[") ? read.keys(unit) : [];
  const span = p.from(token);
  const types = parameters.map(({ type }) => type);
  checkKeyTypes(unit, name, given, types, span);
  const values = parameters.map(({ name: parameter, type }, i) => {
    const known = knownType(type);
    return [parameter, isNumber(known) ? unit.cast(known, given[i]) : given[i]] as const;
  });
  const value = withParameters(unit, values, () =>
    unit.reading(p.elsewhere(inline.words ?? [], span), () => read.expression(unit)),
  );
  return isNumber(inline.known) && unit.known(value) !== inline.known ? unit.cast(inline.known, value, span) : value;
}

/** `fds[n]`: an open file of the process; none where there is no such descriptor. */
export function descriptor(
  object: Expression,
  index: Expression,
  span: Span,
  unit: Unit,
  read: ReadExpression,
): Expression | undefined {
  if (object.kind !== "identifier" || object.name !== "fds") return undefined;
  const text = `(struct file *)__kernel(
    (uint64_t)N >= curthread->files->fdt->max_fds ? 0 : (uint64_t)curthread->files->fdt->fd[N])`;
  return translate(unit, "fileinfo_t", readText(unit, text, span, read, [["N", index]]), span);
}

/** `args[1]` of a probe whose arguments D defines. */
export function stableArgument(
  object: Expression,
  index: Expression,
  span: Span,
  unit: Unit,
  read: ReadExpression,
): Expression | undefined {
  const { provider, name: probe = "", names = [], description = "" } = unit.clause;
  const stable = object.kind === "builtin" && object.name === "args" ? stableProbe(provider, probe) : undefined;
  if (object.kind === "builtin" && object.name === "args" && ["dtrace", "profile"].includes(provider))
    unit.cursor.fail(dDescriptions.noArgumentsHere(Number(constantValue(index, unit) ?? 0n), `:::${probe}`), span);
  const number = stable === undefined ? undefined : constantValue(index, unit);
  if (stable === undefined || number === undefined) return undefined;
  const text = stable.args?.[Number(number)];
  const argumentsOf = (name: string): readonly string[] => stableProbe(provider, name)?.args ?? [];
  const differ = names.some((name) => argumentsOf(name).join() !== argumentsOf(probe).join());
  if (differ && !description.includes(",")) unit.cursor.fail(dDescriptions.argumentsUnstable(description), span);
  const without = names.find((name) => Number(number) >= argumentsOf(name).length);
  if (without !== undefined)
    unit.cursor.fail(
      dDescriptions.noArgument(Number(number), `${provider}:::${without}`, argumentsOf(without).length),
      span,
    );
  const other = names.find((name) => argumentsOf(name)[Number(number)] !== text);
  if (other !== undefined && text !== undefined)
    unit.cursor.fail(dDescriptions.argumentsDiffer(Number(number), `:::${probe}`, `:::${other}`), span);
  if (text === "") unit.cursor.fail(dDescriptions.argumentAbsent(Number(number), `${provider}:::${probe}`), span);
  return text === undefined
    ? unit.cursor.fail(
        dDescriptions.noArgument(Number(number), `${provider}:::${probe}`, stable.args?.length ?? 0),
        span,
      )
    : readText(unit, text, span, read);
}

function local(unit: Unit, of: "self" | "this", member: string, span: Span, read: Readers): Expression {
  const p = unit.cursor;
  const table = of === "self" ? unit.thread : unit.event;
  const storage = table.get(member);
  const written = `${of}->${member}`;
  const declare = (keyed: boolean) => (known: Known | undefined) => void table.set(member, { known, keyed });
  if (of === "this" && p.at("[") && storage === undefined) p.fail(dNames.localArray(member), span);
  if (of === "self" && p.at("[") && (storage?.keyed ?? true)) {
    const given = read.keys(unit);
    if (storage?.keyTypes !== undefined) checkKeys(unit, member, given, storage.keyTypes, span);
    const keys = [nodes.builtin("tid", span), ...given];
    const target = nodes.map(`${written}[]#0`, keys, p.from(span));
    return place(unit, { storage, target, written, declare: declare(true) });
  }
  const target: Variable =
    of === "self" ? { ...nodes.variable(`${written}#0`, span), lives: "thread" } : nodes.variable(written, span);
  return place(unit, { storage, target, written, declare: declare(false) });
}

function called(unit: Unit, name: string, start: Span, read: Readers): Expression {
  const p = unit.cursor;
  const args = read.args(unit);
  const span = p.from(start);
  const found = libraryFunction(name);
  if (Object.hasOwn(libraryTexts, name)) {
    const { parameters, prototype = [], text, known } = libraryTexts[name];
    checkCount(unit, name, args.length, parameters.length, parameters.length, span);
    checkPrototype(unit, name, args, prototype);
    const meant = parameters.map((parameter, i) => [parameter, args[i]] as const);
    return unit.typed(readText(unit, text, span, read.expression, meant), known);
  }
  if (found === undefined) {
    if (unit.statements.aggregating.has(name)) return p.fail(dCalls.aggregatingFunction(name), span);
    if (unit.inPredicate && unit.statements.actions.has(name)) return p.fail(dSyntax.predicateType(), span);
    unit.statements.check(unit, name, args, span);
    if (unit.statements.actions.has(name)) return p.fail(dCalls.noValue(name), span);
    if (isBuiltIn(name)) p.fail(dCalls.noFunctionOf("scalar", name), start);
    const [near] = nearest(name, [...libraryNames(), ...unit.statements.actions]);
    return p.fail(dCalls.unknownFunction(name, near === undefined ? undefined : `did you mean \`${near}\`?`), start);
  }
  checkCount(unit, name, args.length, found.least, found.most, span);
  checkPrototype(unit, name, args, found.prototype ?? []);
  const value = found.value(args, span, unit);
  const { textBytes } = unit.options;
  const cut =
    textBytes !== undefined && makesLonger.has(name)
      ? nodes.hostText("bytesOfText", [value, nodes.integer(0, span), nodes.integer(textBytes, span)], span)
      : value;
  return givesNull.has(name) ? unlessEmpty(unit, cut) : unit.typed(cut, found.known);
}

/** Subroutines whose texts may be longer than those that they are given. */
const makesLonger: ReadonlySet<string> = new Set([
  "strjoin",
  "lltostr",
  "inet_ntoa",
  "inet_ntoa6",
  "inet_ntop",
  "link_ntop",
]);
