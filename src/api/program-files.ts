// What scripts ask of programs' files before they are compiled.
import { statSync } from "node:fs";
import { Failure } from "../base/failure.ts";
import type { CalledFunction, FileIdentity, Label } from "../language/language.ts";
import type { Binary } from "../machine/system.ts";
import { machineReasons } from "../messages/on-demand.ts";
import { calledFunctions } from "../providers/places/called-functions.ts";
import { labelsIn } from "../providers/places/labels.ts";
import { thisMachine } from "./machine.ts";

export function fileIdentity(path: string): FileIdentity | Failure {
  return ofProgram(path, (binary) => {
    const { ino, dev } = statSync(binary.path, { bigint: true });
    const [major, minor] = [
      ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & 0xfffff000n),
      (dev & 0xffn) | ((dev >> 12n) & 0xffffff00n),
    ];
    return { inode: ino, ...(major === 0n ? {} : { device: (major << 20n) | minor }) };
  });
}

export function functionsCalled(path: string, callers: string): readonly CalledFunction[] | Failure {
  return ofProgram(path, (binary) => calledFunctions(binary, callers));
}

export function labels(path: string, functions: string): readonly Label[] | Failure {
  return ofProgram(path, (binary) => labelsIn(binary, functions));
}

function ofProgram<T>(path: string, ask: (binary: Binary) => T | Failure): T | Failure {
  const binary = thisMachine().binary(path);
  return binary === undefined ? new Failure(machineReasons().noProgram(path)) : ask(binary);
}
