// What cannot be where it is: in the kernel, in strobe itself, in this probe.
import { says, type Message, type Shown } from "./message.ts";

export const placement = {
  undefinedMap: (body: Shown, help?: string): Message => says("name", `undefined map: ${body}`, help),
  textTakesProgramEachProbes: (name: Shown, count: Shown, mostSites: Shown): Message =>
    says(
      "limit",
      `${name} as text takes a program for each of the ${count} probes: there can be ${mostSites}`,
      "probe fewer of them, or print it",
    ),
};
