// `import "helpers.bt";` and `#include "types.h"`: which files a script names, and where.
import type { Source } from "../diagnostic.ts";
import type { Referenced } from "../language.ts";
import { preprocess } from "./preprocess.ts";
import { scan } from "./tokens.ts";
import { scripts } from "../../messages/on-demand.ts";

/** Imports are behind C definitions, among config and other imports: the language allows them nowhere else. */
export function referencesOf(source: Source, imported: boolean): Referenced {
  const { text, includes } = preprocess(source.text);
  const imports: Referenced["imports"][number][] = [];
  let at = 0;
  for (;;) {
    const token = scan(text, at);
    if (token.kind !== "identifier") return { imports, includes };
    switch (token.text) {
      case "import": {
        const path = scan(text, token.end);
        if (path.kind !== "string") return { imports, includes }; // the parser says what is wrong
        const behind = scan(text, path.end);
        at = behind.text === ";" ? behind.end : path.end;
        imports.push({
          path: path.text,
          pathSpan: { start: path.start, end: path.end },
          span: { start: token.start, end: at },
        });
        break;
      }
      case "config":
        if (imported)
          return {
            imports,
            includes,
            problem: {
              severity: "error",
              span: { start: token.start, end: token.end },
              ...scripts().configOfImported(),
            },
          };
        at = behindBraces(text, token.end);
        break;
      case "struct":
      case "union":
      case "enum":
      case "typedef":
        at = behindBraces(text, token.end);
        break;
      default:
        return { imports, includes };
    }
    while (scan(text, at).text === ";") at = scan(text, at).end;
  }
}

/** Behind the `}` of the next block, or a `;` before there is one. */
function behindBraces(text: string, from: number): number {
  let depth = 0;
  for (let token = scan(text, from); token.kind !== "end"; token = scan(text, token.end)) {
    if (token.text === "{") depth++;
    else if (token.text === "}" && --depth <= 0) return token.end;
    else if (token.text === ";" && depth === 0) return token.end;
  }
  return text.length;
}
