/** Of files that `strobe run` starts. */
export const programEndings: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];
