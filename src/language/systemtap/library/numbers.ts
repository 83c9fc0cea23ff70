// Numbers: random ones, those of devices.
import type { LibraryFunction } from "./function.ts";
import * as tree from "../tree.ts";

const { builtin, integer, toLong } = tree;

export const numbers: Readonly<Record<string, LibraryFunction>> = {
  randint: {
    parameters: ["long"],
    result: "long",
    doc: "A random number from 0 to one less than the given.",
    value: ([most], span) => tree.binary("%", toLong(builtin("rand", span)), most, span),
  },
  MAJOR: {
    parameters: ["long"],
    result: "long",
    doc: "Major number of a device.",
    value: ([device], span) => tree.binary(">>", device, integer(20, span), span),
  },
  MINOR: {
    parameters: ["long"],
    result: "long",
    doc: "Minor number of a device.",
    value: ([device], span) => tree.binary("&", device, integer(0xfffff, span), span),
  },
  MKDEV: {
    parameters: ["long", "long"],
    result: "long",
    doc: "A device's number.",
    value: ([major, minor], span) => tree.binary("|", tree.binary("<<", major, integer(20, span), span), minor, span),
  },
};
