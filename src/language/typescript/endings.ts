// Which files are programs in TypeScript or JavaScript, by their names.
export const programEndings: readonly string[] = [".ts", ".mts", ".cts", ".js", ".mjs", ".cjs"];

/** Whether `strobe run` takes a file. */
export function isProgram(file: string): boolean {
  return !file.startsWith("-") && programEndings.some((ending) => file.endsWith(ending));
}
