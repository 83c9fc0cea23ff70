/** Whether `strobe run` takes a file, by its name: TypeScript or JavaScript. */
export function isProgram(file: string): boolean {
  return /\.[mc]?[jt]s$/.test(file) && !file.startsWith("-");
}
