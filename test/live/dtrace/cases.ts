// Cases of D: files of `=== name`, a command, a script and what the command prints. `dtrace` in a command is the real one
// when fixtures are made, and strobe when they are compared.
import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Printed {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number;
}

export interface Case {
  readonly name: string;
  /** Why strobe prints something else: it will not (`differs`), or does not yet (`gap`). */
  readonly differs?: string;
  readonly gap?: string;
  /** Given to a shell in an empty folder, where the script is `t.d`. */
  readonly command: string;
  readonly script: string;
  readonly printed: Printed;
}

export interface CaseFile {
  /** The lines before the first case. */
  readonly about: string;
  readonly cases: readonly Case[];
}

const usual = "dtrace -qs t.d";
/** At the end of a section: its last line has no end; or is empty. */
const cut = "\\ no newline\n";
const blank = "\\ blank\n";

/** @throws Error naming a case that is not well-formed */
export function readCases(text: string): CaseFile {
  const [about, ...blocks] = `\n${text}`.split("\n=== ");
  return { about: about.slice(1), cases: blocks.map(readCase) };
}

function readCase(block: string): Case {
  const [head, ...sections] = `${block.replace(/\n*$/, "")}\n`.split("\n--- ");
  const lines = `${head.replace(/\n*$/, "")}\n`.split("\n");
  const name = lines.shift()!;
  const notes = new Map<string, string>();
  for (let note; (note = /^(differs|gap): (.+)$/.exec(lines[0])) !== null; lines.shift()) notes.set(note[1], note[2]);
  const command = lines[0].startsWith("$ ") ? lines.shift()!.slice(2) : usual;
  const printed = { stdout: "", stderr: "", code: 0 };
  for (const section of sections) {
    const [title] = section.split("\n", 1);
    const body = section.slice(title.length + 1);
    const whole = body === "" || body.endsWith("\n") ? body : `${body}\n`;
    const given = whole.endsWith(cut)
      ? whole.slice(0, -cut.length - 1)
      : whole.endsWith(blank)
        ? whole.slice(0, -blank.length)
        : whole;
    if (title === "stdout" || title === "stderr") printed[title] = given;
    else if (/^exit \d+$/.test(title)) printed.code = Number(title.slice(5));
    else throw new Error(`${name}: "--- ${title}" is no section`);
  }
  const [differs, gap] = [notes.get("differs"), notes.get("gap")];
  return {
    name,
    ...(differs === undefined ? {} : { differs }),
    ...(gap === undefined ? {} : { gap }),
    command,
    script: lines.join("\n"),
    printed,
  };
}

export function writeCases({ about, cases }: CaseFile): string {
  return `${about.replace(/\n*$/, "\n")}${cases.map(caseText).join("")}`;
}

function caseText({ name, differs, gap, command, script, printed }: Case): string {
  const section = (title: string, body: string): string =>
    body === ""
      ? ""
      : `--- ${title}\n${body}${/^\n$|\n\n$/.test(body) ? blank : body.endsWith("\n") ? "" : `\n${cut}`}`;
  return [
    `\n=== ${name}\n`,
    differs === undefined ? "" : `differs: ${differs}\n`,
    gap === undefined ? "" : `gap: ${gap}\n`,
    command === usual ? "" : `$ ${command}\n`,
    script,
    section("stdout", printed.stdout),
    section("stderr", printed.stderr),
    printed.code === 0 ? "" : `--- exit ${printed.code}\n`,
  ].join("");
}

/** Runs a case; `dtrace` is the command for it, as a shell takes it. */
export async function runCase({ command, script }: Case, dtrace: string, seconds: number): Promise<Printed> {
  // Where it is, is in no output.
  const folder = mkdtempSync(join(tmpdir(), "strobe-dtrace-"));
  try {
    writeFileSync(join(folder, "t.d"), script);
    const link = join(folder, "dtrace");
    writeFileSync(link, `#!/bin/sh\nexec ${dtrace} "$@"\n`);
    chmodSync(link, 0o755);
    return await new Promise<Printed>((done, failed) => {
      const child = spawn("timeout", ["-k", "2", String(seconds), "sh", "-c", command], {
        cwd: folder,
        stdio: ["ignore", "pipe", "pipe"],
        // Columns of CPU and probe ids are blank.
        env: { ...process.env, PATH: `${folder}:${process.env["PATH"]}`, _DTRACE_TESTING: "1", LC_ALL: "C", TZ: "UTC" },
      });
      const texts = { stdout: "", stderr: "" };
      child.stdout.setEncoding("utf8").on("data", (text: string) => (texts.stdout += text));
      child.stderr.setEncoding("utf8").on("data", (text: string) => (texts.stderr += text));
      child.on("error", failed);
      child.on("close", (code) => {
        // A program's instructions and memory are its own.
        const own = (text: string): string =>
          // With -xnolibs the real one is ready in a tenth of the time; of what is right it then says one of these.
          text
            .replaceAll(
              /^dtrace: failed to establish error handler: .*\n|^.*: Assertion `.*' failed\.\n|^Aborted.*\n/gm,
              "",
            )
            .replaceAll(/^dtrace: .*built-in variable '\w+' not implemented\n/gm, "")
            .replaceAll(/ at BPF pc \d+$/gm, " at BPF pc N")
            .replaceAll(/0x[0-9a-f]{8,}(?= = \*$)/gm, "0xADDRESS");
        done({ stdout: own(texts.stdout), stderr: own(texts.stderr), code: code ?? 255 });
      });
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
