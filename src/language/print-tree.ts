// The tree as text, for `-d` and for golden tests: S-expressions, indented where they do not fit a line. What the
// checker has typed carries its type: `(+ $x:u8 1:i64):i64`.
import { writtenParts } from "./probe-spelling.ts";
import { literalText } from "./floating.ts";
import type {
  Block,
  Expression,
  MapAccess,
  Program,
  Statement,
  StructDeclaration,
  TypeName,
  Variable,
} from "./program.ts";
import type { Type } from "./types.ts";

/** A word, or a list in parentheses with what follows its closing one. */
type Form = string | { readonly items: readonly Form[]; readonly suffix: string };

const columns = 110;

export function printTree(program: Program): string {
  const forms: Form[] = [
    ...program.config.map((entry) => list("config", entry.name, quote(entry.value))),
    ...program.structs.map(structForm),
    ...program.enums.map((e) => list("enum", e.name || "_", ...e.constants.map((c) => list(c.name, String(c.value))))),
    ...program.maps.map((m) =>
      list("map", `@${m.name}`, m.storage, ...(m.entries === undefined ? [] : [String(m.entries)])),
    ),
    ...program.functions.map((f) =>
      list(
        "fn",
        f.name,
        list(
          ...f.parameters.map(
            (parameter) =>
              `$${parameter.name}${parameter.type === undefined ? "" : `:${typeNameText(parameter.type)}`}`,
          ),
        ),
        ...(f.result === undefined ? [] : [typeNameText(f.result)]),
        ...f.body.statements.map(statementForm),
      ),
    ),
    ...program.probes.map((probe) =>
      list(
        "probe",
        ...probe.specs.map(
          ({ provider, parts, options, optional, sequence }) =>
            `${[provider, ...writtenParts({ parts, ...(options && { options }) })].map(specPart).join(":")}${sequence === undefined ? "" : `(${sequence})`}${optional ? "?" : ""}`,
        ),
        ...(probe.predicate === undefined ? [] : [list("when", expressionForm(probe.predicate))]),
        ...probe.body.statements.map(statementForm),
      ),
    ),
  ];
  return forms.map((form) => `${layOut(form, 0)}\n`).join("");
}

function structForm(s: StructDeclaration): Form {
  return list(
    s.union ? "union" : "struct",
    s.name || "_",
    ...s.members.map((m) =>
      list(
        m.name || "_",
        "members" in m.type ? structForm(m.type) : typeNameText(m.type),
        ...(m.bitWidth === undefined ? [] : [`bits=${m.bitWidth}`]),
      ),
    ),
  );
}

function blockForm(block: Block): Form {
  return list("do", ...block.statements.map(statementForm));
}

function statementForm(s: Statement): Form {
  switch (s.kind) {
    case "block":
      return blockForm(s);
    case "expression":
      return s.discard === true ? list("discard", expressionForm(s.expression)) : expressionForm(s.expression);
    case "assign":
      return list(`${s.operator ?? ""}=`, expressionForm(s.target), expressionForm(s.value));
    case "declare":
      return list(
        "let",
        expressionForm(s.variable),
        ...(s.declared === undefined ? [] : [`:${typeNameText(s.declared)}`]),
        ...(s.value === undefined ? [] : [expressionForm(s.value)]),
      );
    case "aggregate":
      return list(
        "aggregate",
        s.aggregate,
        expressionForm(s.target),
        ...(s.value === undefined ? [] : [expressionForm(s.value)]),
        ...s.parameters.map(expressionForm),
        ...(s.weight === undefined ? [] : [list("times", expressionForm(s.weight))]),
      );
    case "if":
      return list(
        "if",
        expressionForm(s.condition),
        blockForm(s.then),
        ...(s.otherwise === undefined ? [] : [blockForm(s.otherwise)]),
      );
    case "while":
      return list("while", expressionForm(s.condition), blockForm(s.body));
    case "do-while":
      return list("do-while", blockForm(s.body), expressionForm(s.condition));
    case "for":
      return list(
        "for",
        list(...s.before.map(statementForm)),
        s.condition === undefined ? "always" : expressionForm(s.condition),
        list(...s.step.map(statementForm)),
        blockForm(s.body),
      );
    case "switch":
      return list(
        "switch",
        list(expressionForm(s.subject), expressionForm(s.of)),
        ...s.cases.map(({ values, otherwise, body }) =>
          list("case", ...values.map(expressionForm), ...(otherwise === undefined ? [] : ["default"]), blockForm(body)),
        ),
      );
    case "clause":
      return list(
        "clause",
        ...(s.predicate === undefined ? [] : [list("when", expressionForm(s.predicate))]),
        blockForm(s.body),
      );
    case "unroll":
      return list("unroll", expressionForm(s.count), blockForm(s.body));
    case "for-range":
      return list(
        "for",
        expressionForm(s.variable),
        list("..", expressionForm(s.from), expressionForm(s.to)),
        blockForm(s.body),
      );
    case "for-map":
      return list(
        "for",
        expressionForm(s.variable),
        expressionForm(s.map),
        ...(s.keys === undefined ? [] : [list("keys", ...s.keys.map(expressionForm))]),
        ...(s.value === undefined ? [] : [list("value", expressionForm(s.value))]),
        ...(s.slice === undefined
          ? []
          : [list("slice", ...s.slice.map((one) => (one === undefined ? "*" : expressionForm(one))))]),
        ...(s.order === undefined
          ? []
          : [`${s.order.descending ? "-" : "+"}${s.order.result ?? s.order.by}${s.order.part ?? ""}`]),
        ...(s.limit === undefined ? [] : [list("limit", expressionForm(s.limit))]),
        blockForm(s.body),
      );
    case "for-value":
      return list("for", expressionForm(s.variable), expressionForm(s.of), blockForm(s.body));
    case "break":
    case "continue":
    case "next":
      return list(s.kind);
    case "try":
      return list(
        "try",
        ...(s.kinds ?? []),
        blockForm(s.body),
        list("catch", ...(s.caught === undefined ? [] : [expressionForm(s.caught)]), blockForm(s.handler)),
      );
    case "throw":
      return list("throw", expressionForm(s.value));
    case "return":
      return list("return", ...(s.value === undefined ? [] : [expressionForm(s.value)]));
  }
}

function expressionForm(e: Expression): Form {
  const form = untyped(e);
  if (e.type.kind === "unknown") return form;
  const suffix = `:${typeText(e.type)}`;
  return typeof form === "string" ? form + suffix : { ...form, suffix };
}

function untyped(e: Expression): Form {
  switch (e.kind) {
    case "integer":
      return String(e.value);
    case "float":
      return literalText(e.value);
    case "string":
      return quote(e.value);
    case "boolean":
      return String(e.value);
    case "identifier":
      return e.constant === undefined ? `'${e.name}` : `'${e.name}=${e.constant}`;
    case "builtin":
      return e.name;
    case "variable":
      return `$${e.name}`;
    case "map":
      return mapForm(e);
    case "unary":
      return list(e.operator, expressionForm(e.operand));
    case "binary":
      return list(e.operator, expressionForm(e.left), expressionForm(e.right));
    case "conditional":
      return list("?", expressionForm(e.condition), expressionForm(e.then), expressionForm(e.otherwise));
    case "assignment":
      return list(`${e.operator ?? ""}=`, targetForm(e.target), expressionForm(e.value));
    case "increment": {
      const sign = e.delta > 0 ? "++" : "--";
      return list(e.prefix ? `${sign}_` : `_${sign}`, targetForm(e.target));
    }
    case "call":
      return list(e.name, ...e.args.map(expressionForm));
    case "member":
      return list(".", expressionForm(e.object), e.name);
    case "index":
      return list("[]", expressionForm(e.object), expressionForm(e.index));
    case "tuple-index":
      return list(".", expressionForm(e.object), String(e.index));
    case "cast":
      return list("cast", typeNameText(e.to), expressionForm(e.operand));
    case "sizeof":
      return list(
        "sizeof",
        "pointers" in e.of ? typeNameText(e.of) : expressionForm(e.of),
        ...constantForm(e.constant),
      );
    case "offsetof":
      return list(
        "offsetof",
        "pointers" in e.of ? typeNameText(e.of) : expressionForm(e.of),
        e.path.join("."),
        ...constantForm(e.constant),
      );
    case "tuple":
      return list("tuple", ...e.elements.map(expressionForm));
    case "record":
      return list("record", ...e.fields.map((f) => list(f.name, expressionForm(f.value))));
    case "presence":
      return list(e.asks, expressionForm(e.of), ...(e.there === undefined ? [] : [expressionForm(e.there)]));
    case "described":
      return list("described", typeof e.of === "string" ? e.of : expressionForm(e.of), String(e.depth));
    case "result":
      return list(e.aggregate, expressionForm(e.of), ...e.parameters.map(expressionForm));
    case "sequence":
      return list(e.form, expressionForm(e.length));
    case "choice":
      return list(
        "choice",
        ...e.alternatives.map(({ name = "_", value }) =>
          value === undefined ? name : list(name, expressionForm(value)),
        ),
      );
    case "block-expression":
      return list("do", ...e.statements.map(statementForm), list("value", expressionForm(e.value)));
  }
}

function targetForm(target: Variable | MapAccess): Form {
  return expressionForm(target);
}

function mapForm(map: MapAccess): Form {
  return map.keys.length === 0 ? `@${map.name}` : list(`@${map.name}`, ...map.keys.map(expressionForm));
}

function constantForm(constant: bigint | undefined): Form[] {
  return constant === undefined ? [] : [`=${constant}`];
}

/** As it is written: `struct task_struct**`, `uint8[16]`. */
export function typeNameText(type: TypeName): string {
  const tag = type.tag === undefined ? "" : `${type.tag} `;
  const modifiers = [type, ...(type.behind ?? [])].map(
    ({ pointers, dimensions }) => "*".repeat(pointers) + dimensions.map((d) => `[${d === 0 ? "" : d}]`).join(""),
  );
  return tag + type.name + modifiers.join("");
}

function typeText(type: Type): string {
  switch (type.kind) {
    case "unknown":
    case "void":
      return type.kind;
    case "boolean":
      return "bool";
    case "integer":
      return `${type.signed ? "i" : "u"}${type.bits}`;
    case "enum":
      return `enum ${type.name}`;
    case "pointer":
      return `${typeText(type.target)}*`;
    case "struct":
      return `${type.union ? "union" : "struct"} ${type.name || "_"}`;
    case "array":
      return `${typeText(type.element)}[${type.length}]`;
    case "string":
    case "buffer":
      return `${type.kind}[${type.capacity}]`;
    case "tuple":
      return `(${type.elements.map(typeText).join(",")})`;
    case "record":
      return `(${type.fields.map((f) => `${f.name}=${typeText(f.type)}`).join(",")})`;
    case "sequence":
      return `${type.form}(${typeText(type.element)})`;
    case "choice":
      return `choice(${type.alternatives.map(({ name = "_", type: of }) => name + (of === undefined ? "" : `=${typeText(of)}`)).join(",")})`;
    case "stack":
      return type.space === "kernel" ? "kstack" : "ustack";
    case "named":
      return type.of;
    case "aggregate":
      return type.aggregate;
  }
}

function list(...items: Form[]): Form {
  return { items, suffix: "" };
}

function specPart(part: string): string {
  return /[\s"():,{]/.test(part) ? quote(part) : part;
}

function quote(text: string): string {
  return JSON.stringify(text);
}

function layOut(form: Form, indent: number): string {
  if (typeof form === "string") return form;
  const flat = oneLine(form, columns - indent);
  if (flat !== undefined) return flat;
  // Words stay on the first line, as far as they go; each list gets a line of its own.
  const firstList = form.items.findIndex((item) => typeof item !== "string");
  let words = firstList < 0 ? form.items.length : Math.max(1, firstList);
  while (words > 1 && lengthOf(form.items.slice(0, words)) + indent > columns) words--;
  const head = form.items.slice(0, words);
  const lines = form.items.slice(head.length).map((item) => `\n${" ".repeat(indent + 2)}${layOut(item, indent + 2)}`);
  return `(${head.map((item) => layOut(item, indent + 2)).join(" ")}${lines.join("")})${form.suffix}`;
}

function lengthOf(forms: readonly Form[]): number {
  return forms.reduce((sum, form) => sum + (typeof form === "string" ? form.length + 1 : 0), 0);
}

/**
 * Undefined when it is longer than `room`, found out without making much more than that, or is a block of several
 * statements.
 */
function oneLine(form: Form, room: number): string | undefined {
  if (typeof form === "string") return form.length <= room ? form : undefined;
  if (form.items[0] === "probe") return undefined;
  const pieces: string[] = [];
  let left = room - 2 - form.suffix.length;
  for (const item of form.items) {
    const piece = left < 0 ? undefined : oneLine(item, left);
    if (piece === undefined) return undefined;
    pieces.push(piece);
    left -= piece.length + 1;
  }
  return `(${pieces.join(" ")})${form.suffix}`;
}
