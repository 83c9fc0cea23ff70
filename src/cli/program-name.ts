import { programEndings } from "../language/typescript/endings.ts";

/** Whether `strobe run` takes a file, by its name: TypeScript or JavaScript. */
export function isProgram(file: string): boolean {
  return !file.startsWith("-") && programEndings.some((ending) => file.endsWith(ending));
}
