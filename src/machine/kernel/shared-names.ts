// Which functions of the kernel share a name, kept on disk: telling that takes all of the kernel's symbols, which take
// longer to read than all else that a probe at one function needs.
import type { Kallsyms } from "../../linux/kernel/kallsyms.ts";
import { runningKernel } from "../../store/boot.ts";
import { KeptFiles } from "../../store/kept-files.ts";

const file = "of-running-kernel";
const kept = new KeptFiles({ folder: "shared-names", names: /^of-running-kernel$/, files: 1 });

/**
 * The names, of the kernel and its modules as they are loaded now. `kallsyms` is called where they are not known yet.
 * Symbols that are hidden from us share no names.
 */
export function sharedNames(kallsyms: () => Kallsyms): ReadonlySet<string> {
  const kernel = runningKernel();
  const key = kernel && JSON.stringify(kernel);
  const [found, ...known] = (key && kept.read(file)?.toString("latin1").split("\n")) || [];
  if (found !== undefined && found === key) return new Set(known);
  const symbols = kallsyms();
  const names = new Set(symbols.sharedFunctions().keys());
  if (key !== undefined && symbols.size > 0) kept.write(file, [key, ...names].join("\n"));
  return names;
}
