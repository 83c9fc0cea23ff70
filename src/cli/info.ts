import { Features } from "../linux/kernel/features.ts";
import { storeState } from "../store/place.ts";
import { print } from "./files.ts";

/** `--info`: what this kernel and machine offer, and whether anything is kept between runs; a line each. */
export function info(): number {
  const { path, problem } = storeState();
  const store = {
    name: "kept between runs",
    available: problem === undefined,
    detail: problem === undefined ? `in ${path}` : `${problem} (for ${path})`,
  };
  const features = [...new Features().report(), store];
  const width = Math.max(...features.map(({ name }) => name.length));
  for (const { name, available, detail } of features) {
    print(`${name.padEnd(width)}  ${available ? "yes" : "no "}${detail ? `  ${detail}` : ""}\n`);
  }
  return 0;
}
