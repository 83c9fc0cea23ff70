// A module as a bundler is to be handed it: handlers carry what they capture and the text they were written as, so that
// the bundler may rename and minify.
import { ScriptError } from "../language/diagnostic.ts";
import { namesIn, reachesLibrary } from "./library-names.ts";
import { isTypeScript } from "./modules.ts";
import { rewriteModule, type Rewritten } from "./rewrite.ts";
import { stripTypes } from "./strip.ts";

/**
 * A file's text with its handlers wrapped; undefined when it has none. Types stay where they are: bundlers know more of
 * TypeScript than how to strip it.
 */
export function forBundler(path: string, text: string): Rewritten | undefined {
  if (!reachesLibrary(path, text)) return undefined;
  const javascript = isTypeScript(path) ? stripped(path, text) : text;
  return javascript === undefined
    ? undefined
    : rewriteModule({ file: path, text, javascript }, { names: namesIn(path), into: "text" });
}

function stripped(path: string, text: string): string | undefined {
  try {
    return stripTypes(path, text);
  } catch (error) {
    if (error instanceof ScriptError) return undefined;
    throw error;
  }
}
