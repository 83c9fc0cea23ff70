// `import { strobe } from "strobe/vite"`, and from "strobe/rollup": one plugin for Rollup, Vite and vitest, whose
// plugins are Rollup's.
import { forBundler } from "./rewrite/bundled.ts";

/** As much of Rollup's and Vite's plugin interface as this one uses. */
export interface StrobePlugin {
  name: string;
  /** Vite: before what it makes of TypeScript. */
  enforce: "pre";
  /** Vite and vitest: the library is loaded by Node, not bundled. */
  config(): { ssr: { external: string[] } };
  /** Rollup: the same. Vite finds the library by itself. */
  resolveId(specifier: string): { id: string; external: true } | undefined;
  transform(code: string, id: string): { code: string; map: string } | undefined;
}

/** A plugin for Rollup, Vite and vitest. The library itself loads native code, and stays outside of the bundle. */
export function strobe(): StrobePlugin {
  let inVite = false;
  return {
    name: "strobe",
    enforce: "pre",
    config() {
      inVite = true;
      return { ssr: { external: ["strobe"] } };
    },
    resolveId: (specifier) => (specifier === "strobe" && !inVite ? { id: specifier, external: true } : undefined),
    transform(code, id) {
      // Vite puts a query behind some paths.
      const [path] = id.split("?", 1);
      if (!/\.[mc]?[jt]s$/.test(path)) return undefined;
      const rewritten = forBundler(path, code);
      return rewritten && { code: rewritten.code, map: rewritten.map() };
    },
  };
}
