// `import { strobe } from "strobe/esbuild"`
import { readFile } from "node:fs/promises";
import { forBundler } from "./rewrite/bundled.ts";
import { isTypeScript } from "./rewrite/modules.ts";

/** As much of esbuild's plugin interface as this one uses. */
interface PluginBuild {
  onLoad(
    options: { filter: RegExp },
    load: (args: { path: string }) => Promise<{ contents: string; loader: "ts" | "js" } | undefined>,
  ): void;
}

export interface StrobePlugin {
  name: string;
  setup(build: PluginBuild): void;
}

/** A plugin for esbuild. The library itself loads native code: bundle with `external: ["strobe"]`. */
export function strobe(): StrobePlugin {
  return {
    name: "strobe",
    setup(build) {
      build.onLoad({ filter: /\.[mc]?[jt]s$/ }, async ({ path }) => {
        const text = await readFile(path, "utf8");
        const rewritten = forBundler(path, text);
        if (!rewritten) return undefined;
        const map = Buffer.from(rewritten.map()).toString("base64");
        return {
          contents: `${rewritten.code}\n//# sourceMappingURL=data:application/json;base64,${map}\n`,
          loader: isTypeScript(path) ? "ts" : "js",
        };
      });
    },
  };
}
