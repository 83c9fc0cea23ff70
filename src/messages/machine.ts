// What a machine lacks
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of machines that lack something: `strobe --info` lists what. */
export const machineReasons = {
  refusal: (errno: string): Reason => reason(errno),
  noProgram: (path: string): Reason => reason(`there is no program ${path}`),
  storeProblem: (problem: string, path: string): Reason => reason(`${problem} (for ${path})`),
  noConfigHz: (): Reason => reason("CONFIG_HZ is not in the kernel's configuration"),
  noConfiguration: (own: string, installed: string): Reason => reason(`neither ${own} nor ${installed} can be read`),
  tooOld: (release: string, floor: string): Reason => reason(`${release}: ${floor}`),
  privilegesMissing: (privileges: string): Reason => reason(`${privileges} missing`),
  refusedDoing: (errno: string, doing: string): Reason => reason(`${errno}: ${doing}`),
  interpreted: (): Reason => reason("off: programs are interpreted, several times slower"),
  refusedHere: (errno: string): Reason => reason(`${errno}: refused here`),
  lessThanSaid: (file: string): Reason => reason(`${file} has less than it says`),
  noAddress: (file: string, address: bigint): Reason =>
    reason(`${file} does not have the address 0x${address.toString(16)}`),
  callsElsewhere: (): Reason => reason("calls are found in code of x86-64 only"),
  noFunctionIn: (name: string, path: string): Reason => reason(`there is no function \`${name}\` in ${path}`),
  noDebugInformation: (): Reason => reason("there is no debug information"),
  programsUnknown: (): Reason => reason("what a program has is not known here"),
  notAmongMappings: (): Reason => reason("it cannot be found among our own mappings"),
};
