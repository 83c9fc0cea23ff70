import { thisMachine } from "../api/machine.ts";
import { NoSuchProgram } from "../declare/programs.ts";
import { FolderInUse, writeDeclarations } from "../declare/write.ts";
import { during, print } from "./files.ts";
import { commands } from "../messages/commands.ts";
import { commandLine, attempts } from "../messages/on-demand.ts";
import { UsageError } from "./usage-error.ts";

/** `strobe types`: writes this machine's declarations, unless they are there already. */
export function writeTypes(argv: readonly string[]): number {
  const { folder, binaries, force } = readArguments(argv);
  try {
    const counts = during(
      () => attempts().writeTo(folder),
      () => writeDeclarations(thisMachine(), { folder, binaries, force }),
    );
    if (counts === undefined) print(`${folder} is up to date\n`);
    else
      print(
        `${folder}: ${Object.entries(counts)
          .map(([what, count]) => `${count} ${what}`)
          .join(", ")}\n`,
      );
    if (counts?.["tracepoints"] === 0)
      process.stderr.write(
        "strobe: tracepoints cannot be seen: tracefs must be readable at /sys/kernel/tracing, which needs root\n",
      );
    return 0;
  } catch (error) {
    if (error instanceof FolderInUse) throw new UsageError(commands.folderInUse(error.folder));
    if (error instanceof NoSuchProgram) throw new UsageError(commands.typesOf(error.message));
    throw error;
  }
}

function readArguments(argv: readonly string[]): { folder: string; binaries: string[]; force: boolean } {
  const binaries: string[] = [];
  let force = false;
  let folder = "strobe-types";
  for (let at = 0; at < argv.length; at++) {
    if (argv[at] === "--force") {
      force = true;
      continue;
    }
    const [option, given] = argv[at].split(/=(.*)/s, 2);
    if (option !== "--binary" && option !== "--output" && option !== "-o")
      throw new UsageError(commands.typesDoesNotKnow(argv[at]));
    const value = given ?? argv[++at];
    if (value === undefined || value === "") throw new UsageError(commandLine().needsValue(option));
    if (option === "--binary") binaries.push(value);
    else folder = value;
  }
  return { folder, binaries, force };
}
