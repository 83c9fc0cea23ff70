import type { BuildOptions } from "esbuild";

export const asModule: BuildOptions;
