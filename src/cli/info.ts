import { Failure } from "../base/failure.ts";
import { Features } from "../linux/kernel/features.ts";
import { storeState } from "../store/place.ts";
import { print } from "./files.ts";
import { machineReasons } from "../messages/on-demand.ts";

/** `--info`: what this kernel and machine offer, and whether anything is kept between runs; a line each. */
export function info(): number {
  const { path, problem } = storeState();
  const store = {
    name: "kept between runs",
    ...(problem === undefined ? {} : { missing: new Failure(machineReasons().storeProblem(problem, path)) }),
    detail: `in ${path}`,
  };
  const features = [...new Features().report(), store];
  const width = Math.max(...features.map(({ name }) => name.length));
  for (const { name, missing, detail } of features) {
    const why = missing?.reason.replace(`${name}: `, "") ?? detail;
    print(`${name.padEnd(width)}  ${missing === undefined ? "yes" : "no "}${why ? `  ${why}` : ""}\n`);
  }
  return 0;
}
