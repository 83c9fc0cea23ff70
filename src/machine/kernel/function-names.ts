// Names of the kernel's functions, kept on disk: which there are and which several share. Telling that takes all of
// the kernel's symbols and types, which take longer to read than all else that a probe or a listing needs.
import { runningKernel } from "../../store/boot.ts";
import { KeptFiles } from "../../store/kept-files.ts";

/**
 * `shared`: of several functions. `traceable`: as tracefs lists them. `typed`: those of BTF that are symbols;
 * `typed-traceable`: those that tracefs lists.
 */
type Names = "shared" | "traceable" | "typed" | "typed-traceable";
const kept = new KeptFiles({
  folder: "function-names",
  names: /^(?:shared|traceable|typed|typed-traceable)$/,
  files: 4,
});

/**
 * The names, of the kernel and its modules as they are loaded now. `find` is called where they are not known yet;
 * `isWhole`, whether what it found is all that there is: what is hidden from this user is not kept.
 */
export function functionNames(
  which: Names,
  find: () => readonly string[],
  isWhole: () => boolean = () => true,
): readonly string[] {
  const kernel = runningKernel();
  const key = kernel && JSON.stringify(kernel);
  const text = key && kept.read(which)?.toString("latin1");
  if (text && text.startsWith(`${key}\n`)) return namesIn(text.slice(key.length + 1));
  const names = find();
  if (key !== undefined && isWhole()) kept.write(which, Buffer.from(`${key}\n${names.join("\n")}`, "latin1"));
  return names;
}

function namesIn(text: string): readonly string[] {
  return text === "" ? [] : text.split("\n");
}
