import { Features } from "../linux/features.ts";
import { print } from "./files.ts";

/** `--info`: what this kernel and machine offer, a line each. */
export function info(): number {
  const features = new Features().report();
  const width = Math.max(...features.map(({ name }) => name.length));
  for (const { name, available, detail } of features) {
    print(`${name.padEnd(width)}  ${available ? "yes" : "no "}${detail ? `  ${detail}` : ""}\n`);
  }
  return 0;
}
