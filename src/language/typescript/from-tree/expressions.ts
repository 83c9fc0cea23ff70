// Expressions, with the parentheses that JavaScript wants.
import { translation } from "../../../messages/translation.ts";
import { InternalError } from "../../../base/internal-error.ts";
import { findBuiltin } from "../../builtins/table.ts";
import { literalText } from "../../floating.ts";
import { typeNameText } from "../../print-tree.ts";
import type { Call, Expression, MapAccess, TypeName } from "../../program.ts";
import { precedence } from "../../precedence.ts";
import { textFrom } from "../../text-bytes.ts";
import { casts } from "../specials.ts";
import { integerText } from "./types.ts";
import { indented, type Writing } from "./writing.ts";

const conditionalStrength = 1;
export const unaryStrength = 13;
const memberStrength = 15;

interface Written {
  readonly text: string;
  readonly strength: number;
}

/** Builtins with words for arguments: strings here. */
const worded: ReadonlySet<string> = new Set(["pid", "tid", "nsecs", "kstack", "ustack", "dw_ustack"]);
/** Builtins whose first argument may be a map as a whole, beyond what are methods of maps here. */
const ofMaps: ReadonlySet<string> = new Set(["print"]);

/** An expression for what it does. */
export function effectText(w: Writing, e: Expression): string {
  // Bare words that act are calls here: exit.
  if (e.kind === "builtin" && findBuiltin(e.name)?.statement === true) return `${builtin(w, e.name)}()`;
  return e.kind === "binary" && (e.operator === "&&" || e.operator === "||") ? conditionText(w, e) : valueText(w, e);
}

/** A value that becomes one of a type, where other languages convert by themselves. */
export function convertedText(w: Writing, type: TypeName, value: Expression): string {
  const given =
    (type.tag === undefined && type.name === "void" && type.pointers === 0) ||
    (value.kind === "boolean" && type.name === "bool") ||
    (value.kind === "cast" && type.of === undefined && typeNameText(value.to) === typeNameText(type));
  return given ? valueText(w, value) : cast(w, type, value);
}

/** Where only true or false matters: `&&` and `||` are those of other languages there. */
export function conditionText(w: Writing, e: Expression, least = 0): string {
  if (e.kind === "binary" && (e.operator === "&&" || e.operator === "||")) {
    const own = precedence[e.operator];
    return parenthesized(
      { text: `${conditionText(w, e.left, own)} ${e.operator} ${conditionText(w, e.right, own + 1)}`, strength: own },
      least,
    );
  }
  if (e.kind === "unary" && e.operator === "!") return `!${conditionText(w, e.operand, unaryStrength)}`;
  return valueText(w, e, least);
}

export function valueText(w: Writing, e: Expression, least = 0): string {
  return parenthesized(written(w, e), least);
}

function written(w: Writing, e: Expression): Written {
  const whole = (text: string): Written => ({ text, strength: memberStrength });
  switch (e.kind) {
    case "integer":
      return { text: integerText(e.value), strength: e.value < 0n ? unaryStrength : memberStrength };
    // To JavaScript 3.0 is 3, which is an integer here.
    case "float":
      return whole(Number.isInteger(e.value) ? `${w.imported("cast")}(${e.value}, "double")` : literalText(e.value));
    case "string":
      return whole(JSON.stringify(e.value));
    case "boolean":
      return whole(String(e.value));
    case "identifier":
      return whole(w.types.constant(e.name) ?? `${w.imported("enums")}.${e.name}`);
    case "builtin":
      return whole(builtin(w, e.name));
    case "variable":
      return whole(w.variableName(e.name));
    case "map":
      return whole(entryValue(w, e));
    case "unary":
      return unary(w, e);
    case "binary":
      return binary(w, e);
    case "conditional":
      return {
        text: `${conditionText(w, e.condition, conditionalStrength + 1)} ? ${valueText(w, e.then, conditionalStrength)} : ${valueText(w, e.otherwise, conditionalStrength)}`,
        strength: conditionalStrength,
      };
    case "assignment":
      w.refuse(e.span, translation.assignmentNoValueThere());
      return whole("0");
    case "increment": {
      const target = e.target.kind === "map" ? entryValue(w, e.target) : w.variableName(e.target.name);
      const sign = e.delta > 0 ? "++" : "--";
      return { text: e.prefix ? sign + target : target + sign, strength: unaryStrength };
    }
    case "call":
      return whole(call(w, e));
    case "member":
      return whole(`${valueText(w, e.object, memberStrength)}.${e.name}`);
    case "index":
      return whole(`${valueText(w, e.object, memberStrength)}[${valueText(w, e.index)}]`);
    case "tuple-index":
      return whole(`${valueText(w, e.object, memberStrength)}[${e.index}]`);
    case "cast":
      return whole(cast(w, e.to, e.operand));
    case "sizeof":
      return whole(`${w.imported("sizeof")}(${typeOrValue(w, e.of)})`);
    case "offsetof":
      return whole(`${w.imported("offsetof")}(${typeOrValue(w, e.of)}, ${JSON.stringify(e.path.join("."))})`);
    case "tuple":
      return whole(`[${e.elements.map((one) => valueText(w, one)).join(", ")}]`);
    case "record":
      return whole(`{ ${e.fields.map(({ name, value }) => field(name, valueText(w, value))).join(", ")} }`);
    case "presence":
      return e.asks === "truth"
        ? written(w, e.of)
        : { text: `${valueText(w, e.of, unaryStrength)} !== undefined`, strength: 0 };
    case "described":
      return typeof e.of === "string" ? written(w, { ...e, kind: "builtin", name: "args" }) : written(w, e.of);
    case "result":
      return whole(`${entryText(w, e.of)}.${e.aggregate}`);
    case "block-expression":
      return whole(blockValue(w, e));
    case "sequence":
    case "choice":
      throw new InternalError(`a ${e.kind} is made by the checker`);
  }
}

/** A function that is called where it stands. */
function blockValue(w: Writing, { statements, value }: Extract<Expression, { kind: "block-expression" }>): string {
  w.scopes.push(new Set());
  const result = w.result;
  w.result = undefined;
  const lines = [...w.walk.statements(w, statements), `return ${valueText(w, value)};`];
  w.result = result;
  w.scopes.pop();
  return `(() => {\n${lines.map((line) => `${indented(line)}\n`).join("")}})()`;
}

function typeOrValue(w: Writing, of: TypeName | Expression): string {
  if ("pointers" in of) return w.types.text(of);
  return of.kind === "string" || of.kind === "map" ? `typeof ${valueText(w, of, unaryStrength)}` : valueText(w, of);
}

function unary(w: Writing, { operator, operand }: Extract<Expression, { kind: "unary" }>): Written {
  switch (operator) {
    case "*":
      return { text: `${w.imported("deref")}(${valueText(w, operand)})`, strength: memberStrength };
    case "&":
      return {
        text: `${w.imported("addressOf")}(${operand.kind === "map" ? entryText(w, operand) : valueText(w, operand)})`,
        strength: memberStrength,
      };
    case "!":
      return { text: `!${conditionText(w, operand, unaryStrength)}`, strength: unaryStrength };
    case "-":
    case "+":
    case "~": {
      const text = valueText(w, operand, unaryStrength);
      return { text: text.startsWith(operator) ? `${operator}(${text})` : operator + text, strength: unaryStrength };
    }
  }
}

function binary(w: Writing, e: Extract<Expression, { kind: "binary" }>): Written {
  const { operator, left, right } = e;
  // As a value, either is true or false, and never one of its sides.
  if (operator === "&&" || operator === "||") {
    return { text: `${conditionText(w, e, conditionalStrength + 1)} ? true : false`, strength: conditionalStrength };
  }
  const rest = operator === "+" ? textFrom(left, right) : undefined;
  if (rest !== undefined) return { text: JSON.stringify(rest), strength: memberStrength };
  const own = precedence[operator];
  const spelled = operator === "==" ? "===" : operator === "!=" ? "!==" : operator;
  return { text: `${valueText(w, left, own)} ${spelled} ${valueText(w, right, own + 1)}`, strength: own };
}

function builtin(w: Writing, name: string): string {
  if (name === "args") {
    w.usesArguments = true;
    return "args";
  }
  const argument = /^arg(\d+)$/.exec(name);
  if (argument) {
    w.usesArguments = true;
    return `args[${argument[1]}]`;
  }
  return w.imported(w.spelled(name));
}

function call(w: Writing, { name, args, span }: Call): string {
  const [first, ...rest] = args;
  // What is known before the script runs is so in any case.
  if (name === "comptime") return valueText(w, first, memberStrength);
  const own = w.functionName(name);
  if (own !== undefined) {
    const { parameters } = w.functions.get(name)!;
    return `${own}(${args
      .map((one, i) => {
        const type = parameters[i]?.type;
        return type ? convertedText(w, type, one) : valueText(w, one);
      })
      .join(", ")})`;
  }
  if (first?.kind === "map") {
    const keys = (): string =>
      [...first.keys, ...(rest.length === 1 && rest[0].kind === "tuple" ? rest[0].elements : rest)]
        .map((one) => valueText(w, one))
        .join(", ");
    if (name === "clear" || name === "zero") return `${w.mapName(first)}.${name}()`;
    if (name === "len") return `${w.mapName(first)}.size`;
    if (name === "delete") return `${w.mapName(first)}.delete(${keys()})`;
    if (name === "find") return find(w, first, args);
    if (name === "has_key") return `${w.mapName(first)}.has(${keys()})`;
  }
  if (!findBuiltin(name)) w.refuse(span, translation.cannotWrittenTypescript(name));
  const texts = args.map((arg, i) => {
    if (arg.kind === "map" && i === 0 && ofMaps.has(name))
      return arg.keys.length === 0 ? w.mapName(arg) : entryText(w, arg);
    if (name === "container_of" && arg.kind === "identifier" && i === 1)
      return w.types.struct(arg.name) ?? JSON.stringify(arg.name);
    if (
      (arg.kind === "identifier" || arg.kind === "builtin") &&
      (worded.has(name) || (name === "container_of" && i === 2))
    )
      return JSON.stringify(arg.name);
    return valueText(w, arg);
  });
  return `${w.imported(name === "print" ? "print" : w.spelled(name))}(${texts.join(", ")})`;
}

/** Looks an entry up, and keeps its value if there was one. */
function find(w: Writing, map: MapAccess, [, key, variable]: readonly Expression[]): string {
  if (variable?.kind !== "variable") return valueText(w, variable);
  const own = w.variableName(variable.name);
  if (!w.scopes.some((scope) => scope.has(variable.name))) {
    w.before.push(`let ${own};`);
    w.scopes.at(-1)?.add(variable.name);
  }
  const keys = (key.kind === "tuple" ? key.elements : [key]).map((one) => valueText(w, one)).join(", ");
  const found = w.unique("found");
  return `(() => {\n  const ${found} = ${w.mapName(map)}.get(${keys});\n  if (${found} !== undefined) ${own} = ${found};\n  return ${found} !== undefined;\n})()`;
}

function cast(w: Writing, to: TypeName, operand: Expression): string {
  const short = castOf(to);
  if (short !== undefined) return `${w.imported(short)}(${valueText(w, operand)})`;
  // A struct as a whole can only become what it is.
  if ((to.tag === "struct" || to.tag === "union") && to.pointers === 0 && to.dimensions.length === 0)
    return valueText(w, operand);
  return `${w.imported("cast")}(${valueText(w, operand)}, ${w.types.text(to, true)})`;
}

export function entryText(w: Writing, map: MapAccess): string {
  const name = w.mapName(map);
  return map.keys.length === 0 ? name : `${name}.at(${map.keys.map((one) => valueText(w, one)).join(", ")})`;
}

export function entryValue(w: Writing, map: MapAccess): string {
  return `${entryText(w, map)}.value`;
}

function parenthesized({ text, strength: own }: Written, least: number): string {
  return own < least ? `(${text})` : text;
}

function field(name: string, value: string): string {
  return name === value ? name : `${name}: ${value}`;
}

/** The function of the library that a cast to an integer is. */
export function castOf(type: TypeName): string | undefined {
  if (type.pointers > 0 || type.dimensions.length > 0 || type.tag !== undefined) return undefined;
  return Object.entries(casts).find(([, name]) => name === type.name)?.[0];
}
