// `a.b`: structs in place and behind pointers, records, args, config.
import { expressions } from "../../messages/expressions.ts";
import { recordings } from "../../messages/recordings.ts";
import { nearest } from "../nearest.ts";
import type { Span } from "../diagnostic.ts";
import type { Expression, MemberAccess, MemberPath } from "../program.ts";
import type { StructType, Type } from "../types.ts";
import { boolType, unknownType } from "../types.ts";
import { configNames, configValue } from "./config.ts";
import { literalType, settled } from "./integers.ts";
import type { Body } from "./pass.ts";
import { didYouMean, integerLiteral, needsKernel, report } from "./pass.ts";
import { describe, describeOne, widen } from "./unify.ts";
import { notRecorded, placeType, where } from "./place-types.ts";
import { lengthOf } from "./shapes.ts";
import { inSpace } from "./spaces.ts";
import { checkPlace } from "./values.ts";
import { argumentsType, argumentType, behindLostPointer, checkVariableMember, isBehindRecorded } from "./variables.ts";
import { Failure, type Reason } from "../../base/failure.ts";

export interface FoundMember {
  readonly type: Type;
  readonly offset: number;
  readonly bitOffset?: number;
  readonly bitWidth?: number;
  readonly absent?: Reason;
}

/** A member by name, looked for in anonymous structs and unions too. */
export function findMember(struct: StructType, name: string): FoundMember | undefined {
  const own = struct.member?.(name);
  if (own !== undefined) return own;
  for (const member of struct.members) {
    if (member.name === name) return member;
  }
  for (const member of struct.members) {
    if (member.name !== "" || member.type.kind !== "struct") continue;
    const inner = findMember(member.type, name);
    if (inner !== undefined)
      return {
        ...inner,
        type: inner.type,
        offset: member.offset + inner.offset,
        ...(member.absent === undefined ? {} : { absent: member.absent }),
      };
  }
  return undefined;
}

function memberNames(struct: StructType): string[] {
  return struct.members.flatMap((m) => (m.name === "" && m.type.kind === "struct" ? memberNames(m.type) : [m.name]));
}

/** `(&$r).x` is `(*&$r).x`. */
function recordBehind(object: Expression, body: Body): Expression {
  if (object.type.kind !== "pointer" || object.type.target.kind !== "record") return object;
  needsKernel(body, "reading memory", object.span);
  return { kind: "unary", operator: "*", operand: object, span: object.span, type: object.type.target };
}

export function checkMember(node: MemberAccess, body: Body): Expression {
  if (node.object.kind === "builtin" && node.object.name === "args") return checkArgument(node, node.object, body);
  if (node.object.kind === "builtin" && node.object.name === "config") return checkSetting(node, body);
  if (node.object.kind === "builtin" && node.object.name === "vars")
    return checkVariableMember(node.name, node.nameSpan, node.span, body);
  // What a description made says where it is.
  if (node.name === "" && node.path !== undefined) return atPath(node, node.path, body);
  const object = recordBehind(behindLostPointer(node.object, body) ?? checkPlace(node.object, body), body);
  const { type } = object;
  if (type.kind === "unknown") return { ...node, object, type };
  if (type.kind === "record") {
    const field = type.fields.find((f) => f.name === node.name);
    if (field !== undefined) return { ...node, object, type: settled(field.type) };
    return {
      ...node,
      object,
      type: missing(
        node,
        "the record",
        type.fields.map((f) => f.name),
        body,
      ),
    };
  }
  const container = type.kind === "pointer" ? type.target : type;
  if (
    node.name === "length" &&
    type.kind === "array" &&
    !(type.element.kind === "integer" && type.element.character === true)
  ) {
    return integerLiteral(BigInt(type.length), literalType(BigInt(type.length)), node.span);
  }
  if (node.name === "length" && (type.kind === "string" || type.kind === "array")) {
    return body.pass.expression({ kind: "call", name: "strlen", args: [node.object], span: node.span, type }, body);
  }
  if (
    (node.name === "length" || node.name === "size") &&
    !(container.kind === "struct" && findMember(container, node.name) !== undefined)
  ) {
    const elements = lengthOf(node.object, object, body);
    if (elements !== undefined) return elements;
  }
  if (container.kind !== "struct" && isBehindRecorded(type, body))
    return { ...node, object, type: report(body, node.span, recordings.onlyAtTheMoment("memory behind a pointer")) };
  if (container.kind !== "struct") {
    const noTypes = object.kind === "builtin" && object.name === "curtask" && !body.pass.options.capabilities.btf;
    const help = noTypes
      ? "this kernel does not describe its types (CONFIG_DEBUG_INFO_BTF): declare the struct in the script, and cast"
      : type.kind === "integer"
        ? "cast it to a struct pointer first: ((struct NAME *)…)"
        : undefined;
    return {
      ...node,
      object,
      type: report(body, node.span, expressions.canNotAccessFieldExpression(node.name, describe(type), help)),
    };
  }
  const member = findMember(container, node.name);
  if (member === undefined)
    return { ...node, object, type: missing(node, describe(container), memberNames(container), body) };
  if (member.absent !== undefined)
    return { ...node, object, type: report(body, node.nameSpan, expressions.absent(node.name, member.absent)) };
  const path = {
    container,
    offset: member.offset,
    ...(member.bitWidth === undefined ? {} : { bitOffset: member.bitOffset ?? 0, bitWidth: member.bitWidth }),
  };
  if (type.kind === "pointer") needsKernel(body, "reading memory", node.span);
  const space = container.space ?? (type.kind === "pointer" ? type.space : "kernel");
  const typed = (type.kind === "pointer" ? type.typed === true : isTyped(object)) && givesTyped(object, body);
  return { ...node, object, path, type: placeType(inSpace(member.type, space, typed)) };
}

function atPath(node: MemberAccess, path: MemberPath, body: Body): Expression {
  const object = checkPlace(node.object, body);
  if (object.type.kind === "unknown") return { ...node, object, type: unknownType };
  needsKernel(body, "reading memory", node.span);
  return { ...node, object, path, type: placeType(inSpace(node.type, "user")) };
}

/** Whether a struct in place was reached through pointers that the verifier knows. */
function isTyped(place: Expression): boolean {
  switch (place.kind) {
    case "unary":
      return place.operator === "*" && place.operand.type.kind === "pointer" && place.operand.type.typed === true;
    case "member":
      return place.object.type.kind === "pointer" ? place.object.type.typed === true : isTyped(place.object);
    default:
      return false;
  }
}

/** Pointers in a context are typed only where the kernel describes it by BTF (iterators). */
function givesTyped(object: Expression, body: Body): boolean {
  if (object.kind !== "builtin" || object.name !== "ctx") return true;
  return body.context !== undefined && body.context !== "host" && body.context.kernelTypes === true;
}

function missing(node: MemberAccess, owner: string, names: readonly string[], body: Body): Type {
  const own = /^(?:struct|union) /.test(owner) ? body.pass.program.rules.advice.noMember : undefined;
  const help = didYouMean(nearest(node.name, names));
  if (own !== undefined)
    return report(body, node.nameSpan, { ...own(owner, node.name), ...(help === undefined ? {} : { help }) });
  return report(body, node.nameSpan, expressions.noField(owner, node.name, help));
}

function checkArgument(node: MemberAccess, object: Expression, body: Body): Expression {
  needsKernel(body, "args", node.span);
  const args = body.context === undefined || body.context === "host" ? undefined : body.context.args;
  if (args === undefined) return { ...node, type: noArguments(body, object.span) };
  const index = args.findIndex((a) => a.name === node.name);
  const argument = args[index];
  if (argument === undefined) {
    const type = report(
      body,
      node.nameSpan,
      expressions.noArgument(
        body.sites[0]?.name ?? "the probe",
        node.name,
        didYouMean(
          nearest(
            node.name,
            args.map((a) => a.name),
          ),
        ) ?? argumentList(args.map((a) => a.name)),
      ),
    );
    return { ...node, type };
  }
  return {
    ...node,
    object: { ...object, type: argumentsType(args) },
    path: { container: "args", offset: 0, argument: index },
    type: argumentType(argument, node.nameSpan, body),
  };
}

function argumentList(names: readonly string[]): string | undefined {
  return names.length === 0 || names.length > 12 ? undefined : `it has ${names.join(", ")}`;
}

export function noArguments(body: Body, span: Span): Type {
  const variables = body.context === undefined || body.context === "host" ? undefined : body.context.variables;
  if (variables instanceof Failure) {
    return report(body, span, expressions.argsNotKnownHere(variables.reason));
  }
  if (body.context !== undefined && body.context !== "host" && (body.context.numbered?.length ?? 0) > 0)
    return report(body, span, expressions.argsNotAvailable(where(body), "use arg0, arg1, … here"));
  return report(body, span, notRecorded("args", body) ?? expressions.argsNotAvailable(where(body)));
}

function checkSetting(node: MemberAccess, body: Body): Expression {
  return setting(node.name, node.span, body) ?? { ...node, type: missing(node, "config", configNames, body) };
}

function setting(name: string, span: Span, body: Body): Expression | undefined {
  const value = configValue(body.pass.config, name);
  switch (typeof value) {
    case "bigint":
      return { kind: "integer", value, span, type: literalType(value) };
    case "boolean":
      return { kind: "boolean", value, span, type: boolType };
    case "string":
      return { kind: "string", value, span, type: { kind: "string", capacity: Buffer.byteLength(value) + 1 } };
    default:
      return undefined;
  }
}

/** `config` as a whole: a record. */
export function allSettings(span: Span, body: Body): Expression {
  const fields = configNames.flatMap((name) => {
    const value = setting(name, span, body);
    return value === undefined ? [] : [{ name, value }];
  });
  return {
    kind: "record",
    fields,
    span,
    type: { kind: "record", fields: fields.map(({ name, value }) => ({ name, type: widen(value.type) })) },
  };
}

/** Bytes from a struct's start to a member, through sub-members. */
export function offsetOf(type: Type, path: readonly string[], span: Span, body: Body): number | undefined {
  let offset = 0;
  let at = type.kind === "pointer" ? type.target : type;
  for (const name of path) {
    if (at.kind !== "struct") {
      report(body, span, expressions.noMembers(describeOne(at)));
      return undefined;
    }
    const member = findMember(at, name);
    if (member === undefined) {
      report(body, span, expressions.noField(describe(at), name, didYouMean(nearest(name, memberNames(at)))));
      return undefined;
    }
    offset += member.offset;
    at = member.type;
  }
  return offset;
}
