// Statements, and the scopes that they declare variables in.
import { translation } from "../../../messages/translation.ts";
import type { Block, Expression, Statement, TypeName, Variable } from "../../program.ts";
import { unknownType } from "../../types.ts";
import { integer, text } from "../reader.ts";
import { conditionText, convertedText, effectText, entryText, entryValue, valueText } from "./expressions.ts";
import { indented, type Writing } from "./writing.ts";

export function blockText(w: Writing, { statements }: Block): string {
  w.scopes.push(new Set());
  const lines = statementTexts(w, statements).map((line) => `${indented(line)}\n`);
  w.scopes.pop();
  return lines.length === 0 ? "{}" : `{\n${lines.join("")}}`;
}

export function statementTexts(w: Writing, statements: readonly Statement[]): string[] {
  return statements.flatMap((statement) => {
    const around = w.before.splice(0);
    const text = statementText(w, statement);
    return [...w.before.splice(0, w.before.length, ...around), text];
  });
}

function statementText(w: Writing, s: Statement): string {
  switch (s.kind) {
    case "block":
      return blockText(w, s);
    case "expression":
      return s.discard === true
        ? `const ${w.unique("unused")} = ${valueText(w, s.expression)};`
        : `${effectText(w, s.expression)};`;
    case "declare":
      return declaration(w, s);
    case "assign":
      return `${assignment(w, s)};`;
    case "aggregate": {
      const args = [...(s.value ? [s.value] : []), ...s.parameters].map((one) => valueText(w, one));
      return `${entryText(w, s.target)}.${s.aggregate}(${args.join(", ")});`;
    }
    case "if": {
      const otherwise =
        s.otherwise && s.otherwise.statements.length === 1 && s.otherwise.statements[0].kind === "if"
          ? statementText(w, s.otherwise.statements[0])
          : s.otherwise && blockText(w, s.otherwise);
      return `if (${conditionText(w, s.condition)}) ${blockText(w, s.then)}${otherwise === undefined ? "" : ` else ${otherwise}`}`;
    }
    case "while":
      return `while (${conditionText(w, s.condition)}) ${blockText(w, s.body)}`;
    case "do-while":
      return `do ${blockText(w, s.body)} while (${conditionText(w, s.condition)});`;
    case "for":
    case "switch":
    case "next":
    case "try":
    case "clause":
    case "throw":
      w.refuse(s.span, translation.cannotWrittenTypescriptYet(s.kind));
      return "";
    case "unroll":
      return `for (const ${w.unique("turn")} of ${w.imported("range")}(${valueText(w, s.count)})) ${blockText(w, s.body)}`;
    case "for-range": {
      const bounds = s.from.kind === "integer" && s.from.value === 0n ? [s.to] : [s.from, s.to];
      const over = `${w.imported("range")}(${bounds.map((one) => valueText(w, one)).join(", ")})`;
      return loop(w, s.variable, over, s.body);
    }
    case "for-value":
      return loop(w, s.variable, valueText(w, s.of), s.body);
    case "for-map": {
      if (s.order?.by === "value" && s.order.descending && s.limit)
        return loop(w, s.variable, `${w.mapName(s.map)}.top(${valueText(w, s.limit)})`, s.body);
      if (s.order || s.limit) w.refuse(s.span, translation.loopOverMapOrderOr());
      return loop(w, s.variable, w.mapName(s.map), s.body);
    }
    case "break":
    case "continue":
      return `${s.kind};`;
    case "return":
      return !s.value
        ? "return;"
        : `return ${w.result === undefined ? valueText(w, s.value) : convertedText(w, w.result, s.value)};`;
  }
}

function declaration(w: Writing, { variable, declared, value }: Extract<Statement, { kind: "declare" }>): string {
  const typed =
    declared === undefined ? value && valueText(w, value) : convertedText(w, declared, value ?? nothingOf(declared));
  w.scopes.at(-1)?.add(variable.name);
  return `let ${w.variableName(variable.name)}${typed === undefined ? "" : ` = ${typed}`};`;
}

function assignment(w: Writing, { target, operator, value }: Extract<Statement, { kind: "assign" }>): string {
  if (target.kind === "map") {
    if (operator !== null) return `${entryValue(w, target)} ${operator}= ${valueText(w, value)}`;
    return `${w.mapName(target)}.set(${[...target.keys, value].map((one) => valueText(w, one)).join(", ")})`;
  }
  const name = w.variableName(target.name);
  if (operator !== null) return `${name} ${operator}= ${valueText(w, value)}`;
  const known = w.scopes.some((scope) => scope.has(target.name));
  const text = valueText(w, value);
  w.scopes.at(-1)?.add(target.name);
  return known ? `${name} = ${text}` : `let ${name} = ${text}`;
}

function loop(w: Writing, { name }: Variable, over: string, body: Block): string {
  w.scopes.push(new Set([name]));
  const text = `for (const ${w.variableName(name)} of ${over}) ${blockText(w, body)}`;
  w.scopes.pop();
  return text;
}

/** What a variable of a type holds at first. */
function nothingOf(type: TypeName): Expression {
  return type.name === "string" && type.pointers === 0
    ? text("", type.span)
    : type.name === "bool" && type.pointers === 0
      ? { kind: "boolean", value: false, span: type.span, type: unknownType }
      : integer(0n, type.span);
}
