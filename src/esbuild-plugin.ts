// `import { strobe } from "strobe/esbuild"`: bundled handlers carry what they capture and the text they were written as, so that
// the bundler may rename and minify.
import { readFile } from "node:fs/promises";
import { ScriptError } from "./language/diagnostic.ts";
import { isTypeScript } from "./rewrite/modules.ts";
import { namesIn, reachesLibrary } from "./rewrite/library-names.ts";
import { rewriteModule } from "./rewrite/rewrite.ts";
import { stripTypes } from "./rewrite/strip.ts";

/** As much of esbuild's plugin interface as this one uses. */
interface PluginBuild {
  onLoad(
    options: { filter: RegExp },
    load: (args: { path: string }) => Promise<{ contents: string; loader: "ts" | "js" } | undefined>,
  ): void;
}

export interface StrobePlugin { name: string; setup(build: PluginBuild): void }

/** A plugin for esbuild. The library itself loads native code: bundle with `external: ["strobe"]`. */
export function strobe(): StrobePlugin {
  return {
    name: "strobe",
    setup(build) {
      build.onLoad({ filter: /\.[mc]?[jt]s$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        if (!reachesLibrary(path, text)) return undefined;
        const typed = isTypeScript(path);
        const javascript = typed ? stripped(path, text) : text;
        // Types stay where they are: esbuild knows more of TypeScript than how to strip it.
        const rewritten = javascript === undefined ? undefined : rewriteModule({ file: path, text, javascript }, { names: namesIn(path), into: "text" });
        if (!rewritten) return undefined;
        const map = Buffer.from(rewritten.map()).toString("base64");
        return { contents: `${rewritten.code}\n//# sourceMappingURL=data:application/json;base64,${map}\n`, loader: typed ? "ts" : "js" };
      });
    },
  };
}

function stripped(path: string, text: string): string | undefined {
  try {
    return stripTypes(path, text);
  } catch (error) {
    if (error instanceof ScriptError) return undefined;
    throw error;
  }
}
