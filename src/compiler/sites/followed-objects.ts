// `follow(object)`, `followed(object)`, `unfollow(object)`: a set of addresses that strobe keeps for a script, as functions of
// the script over a map of strobe's own, to which the checker hands addresses of any type. Addresses of programs are told apart by their processes.
import { usedBuiltins } from "../../language/check/uses.ts";
import * as node from "../../language/nodes.ts";
import type { Expression, FunctionDeclaration, Program, Statement } from "../../language/program.ts";
import { unknownType } from "../../language/types.ts";

/** Nobody can write this name, and whoever prints maps leaves it out. */
const objects = ".followed_objects";
/** Objects at a time. */
const most = 1 << 16;
/** Nobody wrote what is made here. */
const span = { start: 0, end: 0 };

const names = ["follow", "followed", "unfollow"] as const;

/** The script with those of the functions that it calls, and does not declare itself. */
export function followingObjects(program: Program): Program {
  const own = new Set(program.functions.map(({ name }) => name));
  const used = program.probes.reduce<ReadonlySet<string>>(
    (all, probe) => new Set([...all, ...usedBuiltins(probe, program.functions)]),
    new Set(),
  );
  const wanted = names.filter((name) => used.has(name) && !own.has(name));
  if (wanted.length === 0) return program;
  return {
    ...program,
    maps: [...program.maps, { name: objects, storage: "hash", entries: most, span }],
    functions: [...program.functions, ...wanted.map(declared)],
  };
}

function declared(name: (typeof names)[number]): FunctionDeclaration {
  const object = (): Expression => node.variable("object", span);
  const key = (): readonly Expression[] => [process(object()), object()];
  const tuple: Expression = { kind: "tuple", elements: key(), span, type: unknownType };
  const set = node.map(objects, [], span);
  const parameters = [{ name: "object", type: node.typeName("uint64", span), span }];
  const body = (...statements: readonly Statement[]): FunctionDeclaration => ({
    name: `.${name}`,
    parameters,
    body: node.block(statements, span),
    span,
  });
  switch (name) {
    case "follow": {
      const there = node.binary("!=", object(), node.integer(0, span), span);
      const add = node.assign(node.map(objects, key(), span), node.integer(1, span), span);
      return body({ kind: "if", condition: there, then: node.block([add], span), span });
    }
    case "followed":
      return body({ kind: "return", value: node.call("has_key", [set, tuple], span), span });
    case "unfollow":
      return body(node.statement(node.call("delete", [set, tuple], span)));
  }
}

/** Whose an address is: the kernel's, in the upper half, are nobody's. */
function process(address: Expression): Expression {
  const ofKernel = node.binary("<", number("int64", address), node.integer(0, span), span);
  return node.conditional(
    ofKernel,
    number("uint64", node.integer(0, span)),
    number("uint64", node.builtin("pid", span)),
    span,
  );
}

function number(name: "int64" | "uint64", of: Expression): Expression {
  return node.cast(node.typeName(name, span), of, span);
}
