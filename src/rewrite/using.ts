// `using` and `await using`, for versions of Node that do not know them. A block's rest goes into `try … finally`; a
// module's cannot, because of its exports, and is let go of at its end: what ends it earlier ends the process. Lines
// keep their numbers.
import type { AnyNode, Program, VariableDeclaration } from "acorn";
import type { MagicString } from "magic-string";
import { childrenOf } from "./scopes.ts";

let native: boolean | undefined;

/** Whether a text may have declarations that this Node does not know: cheap. */
export function mayNeedUsing(text: string): boolean {
  return /\busing\s+[\w$]/.test(text) && !(native ??= parses("{ using x = null; }"));
}

function parses(text: string): boolean {
  try {
    // oxlint-disable-next-line typescript/no-implied-eval, no-new -- it is read only, never called
    new Function(text);
    return true;
  } catch {
    return false;
  }
}

/** Rewrites them in place; whether there were any. */
export function lowerUsing(program: Program, edits: MagicString): boolean {
  let found = false;
  const visit = (node: AnyNode): void => {
    if (node.type === "Program" || node.type === "BlockStatement" || node.type === "StaticBlock") {
      const declared = (node.body as readonly AnyNode[]).filter(isUsing);
      for (const each of declared) asConstant(each, edits);
      found ||= declared.length > 0;
      if (node.type === "Program") {
        if (declared.length > 0) edits.append(`\n;${declared.reverse().map(disposal).join("")}`);
      } else {
        for (const each of declared) edits.appendLeft(each.end, " try {");
        for (const each of declared.reverse()) edits.appendLeft(node.end - 1, `} finally { ${disposal(each)}}`);
      }
    }
    for (const child of childrenOf(node)) visit(child);
  };
  visit(program);
  return found;
}

type Using = VariableDeclaration & { readonly kind: "using" | "await using" };

function isUsing(node: AnyNode): node is Using {
  return node.type === "VariableDeclaration" && (node.kind === "using" || node.kind === "await using");
}

function asConstant({ start, declarations }: Using, edits: MagicString): void {
  edits.overwrite(start, declarations[0].start, "const ");
}

function disposal({ kind, declarations }: Using): string {
  return declarations
    .map(({ id }) => (id.type === "Identifier" ? id.name : "undefined"))
    .reverse()
    .map((name) =>
      kind === "using"
        ? `${name}?.[Symbol.dispose](); `
        : `await (${name}?.[Symbol.asyncDispose] ?? ${name}?.[Symbol.dispose])?.call(${name}); `,
    )
    .join("");
}
