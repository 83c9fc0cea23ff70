import type { BuildOptions } from "esbuild";

export const loader: BuildOptions["loader"];
export const asModule: BuildOptions;
