// Which build of the kernel runs, and of its modules: from the notes that the kernel shows.
import { readFileSync } from "node:fs";
import { buildIdIn } from "../../debuginfo/elf-notes.ts";

/** In hexadecimal. */
export function runningBuildId(): string | undefined {
  return buildIdOf("/sys/kernel/notes");
}

export function moduleBuildId(name: string): string | undefined {
  return buildIdOf(`/sys/module/${name}/notes/.note.gnu.build-id`);
}

function buildIdOf(path: string): string | undefined {
  try {
    return buildIdIn(readFileSync(path));
  } catch (error) {
    // No such module, or a kernel that shows none.
    if (error instanceof Error && "code" in error) return undefined;
    throw error;
  }
}
