// What a command of -c will run, as far as that can be told before it does.
import { ElfError } from "../../../debuginfo/elf.ts";
import { findProgram, splitWords } from "../../../linux/processes/child.ts";
import type { SearchPaths } from "../../../machine/search-paths.ts";
import { findBinary, openBinary, type LiveBinary } from "../../../machine/binaries/live-binary.ts";

/** Paths of its executable and of the libraries that it needs, where the dynamic loader would find them. */
export function filesOfCommand(command: string, paths: SearchPaths): readonly string[] {
  const [program] = splitWords(command);
  const path = program === undefined ? undefined : findProgram(program, paths.programs);
  const executable = path === undefined ? undefined : openBinary(path, { paths });
  if (!executable) return [];
  const found = new Map([[executable.path, executable]]);
  // Those found are looked through as well.
  for (const binary of found.values()) {
    for (const name of neededBy(binary)) {
      const library = findBinary(name, { paths });
      if (library) found.set(library.path, library);
    }
  }
  return [...found.keys()];
}

function neededBy(binary: LiveBinary): readonly string[] {
  try {
    return binary.needed;
  } catch (error) {
    if (error instanceof ElfError) return []; // damaged
    throw error;
  }
}
