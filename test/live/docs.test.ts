// Every example in the documentation compiles and runs, and prints what the page says.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { after, before, test } from "node:test";
import { build } from "esbuild";
import { strobe as strobePlugin } from "../../src/esbuild-plugin.ts";
import { compileScript } from "../../src/index.ts";
import { strobe, temporaryFolder } from "../support/strobe.ts";

interface Block {
  /** `docs/language.md:12` */
  readonly at: string;
  readonly language: string;
  readonly text: string;
  /** Of the `text` block right behind it. */
  readonly output?: string;
}

const pages = [
  "README.md",
  ...readdirSync("docs")
    .filter((name) => name.endsWith(".md"))
    .sort()
    .map((name) => join("docs", name)),
];
/** Every page, also those without examples to run. */
const allPages = [
  ...pages,
  "CHANGELOG.md",
  "CONTRIBUTING.md",
  "examples/README.md",
  ...["docs/decisions", "bench", "single", "test"].flatMap((folder) => readmesBelow(folder, ".md")),
  ...readmesBelow("src", "README.md"),
];
const blocks = pages.flatMap(blocksOf);
const inLanguage = (language: string): readonly Block[] => blocks.filter((block) => block.language === language);

function readmesBelow(folder: string, ending: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(ending))
    .sort()
    .map((name) => join(folder, name));
}

function blocksOf(page: string): Block[] {
  const fence = /^```(\w*)\n(.*?)^```$/gms;
  const text = readFileSync(page, "utf8");
  const found = [...text.matchAll(fence)];
  return found.map((match, i) => {
    const next = found[i + 1];
    const follows = next?.[1] === "text" && text.slice(match.index + match[0].length, next.index).trim() === "";
    const at = `${page}:${text.slice(0, match.index).split("\n").length}`;
    return { at, language: match[1], text: match[2], ...(follows ? { output: next[2] } : {}) };
  });
}

const manifest = JSON.parse(readFileSync("package.json", "utf8")) as {
  scripts: Record<string, string>;
  bin: { strobe: string };
  exports: { ".": { default: string } };
};
const command = resolve(manifest.bin.strobe);
const library = resolve(manifest.exports["."].default);

const folder = temporaryFolder();
/** Below the checkout, so that packages are found. */
const scratch = resolve("build/docs-test");

before(() => {
  mkdirSync(scratch, { recursive: true });
  const wrapper = join(folder.path, "strobe");
  writeFileSync(wrapper, `#!/bin/sh\nexec "${process.execPath}" "${command}" "$@"\n`);
  chmodSync(wrapper, 0o755);
});
after(() => {
  folder.remove();
  rmSync(scratch, { recursive: true, force: true });
});

test("there are examples of every kind to test", () => {
  for (const language of ["bt", "sh", "ts"]) assert.ok(inLanguage(language).length >= 5, language);
});

test("the generated pages are those of the tables", () => {
  const { status, stderr } = spawnSync(process.execPath, ["docs/generate.mjs", "--check"], { encoding: "utf8" });
  assert.equal(stderr, "");
  assert.equal(status, 0);
});

test("links between pages lead somewhere", () => {
  for (const page of allPages) {
    for (const [, target, anchor] of readFileSync(page, "utf8").matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]*))?\)/g)) {
      const path = target === "" ? page : join(page, "..", target);
      assert.ok(existsSync(path), `${page} links to ${path}`);
      if (anchor !== undefined) {
        const text = readFileSync(path, "utf8");
        const anchors = [...text.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
          title
            .toLowerCase()
            .replace(/[^\w\- ]/g, "")
            .replaceAll(" ", "-"),
        );
        assert.ok(anchors.includes(anchor), `${page} links to ${path}#${anchor}`);
      }
    }
  }
});

/** The folder of a page, and those in it: a page may have a section for each. */
function foldersNear(page: string): string[] {
  const folder = join(page, "..");
  const inside = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  return [folder, ...inside.map(({ name }) => join(folder, name))];
}

test("files that the pages about the source name are there", () => {
  const about = [...allPages.filter((page) => !pages.includes(page)), "docs/architecture.md"];
  const missing = about.flatMap((page) =>
    [
      ...readFileSync(page, "utf8")
        .replace(/^```.*?^```$|^New file [^\n]*:$/gms, "")
        .matchAll(/`([\w.+/-]+(?:\.ts|\.mjs|\/))`/g),
    ]
      .map(([, path]) => path)
      .filter((path) => ![...foldersNear(page), "", "src"].some((from) => existsSync(join(from, path))))
      .map((path) => `${page}: ${path}`),
  );
  assert.deepEqual(missing, []);
});

for (const block of [...inLanguage("bt"), ...inLanguage("stp"), ...inLanguage("d")]) {
  test(`${block.at}: the script ${block.output === undefined ? "compiles" : "prints what the page says"}`, async () => {
    if (block.output === undefined) {
      const { diagnostics, plan } = compileScript(
        { name: `${block.at}.${block.language}`, text: block.text },
        { env: {} },
      );
      assert.deepEqual(
        diagnostics.map(({ message }) => message),
        [],
      );
      assert.ok(plan);
      return;
    }
    const path = join(folder.path, `example.${block.language}`);
    writeFileSync(path, block.text);
    const { stdout, stderr, code } = await strobe(["-q", path]);
    assert.deepEqual({ stdout: trimmed(stdout), stderr, code }, { stdout: trimmed(block.output), stderr: "", code: 0 });
  });
}

/** Without the blank lines around: two come between the events and the maps of the end. */
function trimmed(text: string): string {
  return text.replace(/^\n+|\s+$/g, "").replaceAll("\n\n\n", "\n\n");
}

for (const { at, text } of inLanguage("sh")) {
  for (const line of text.split("\n").filter((line) => line !== "")) {
    if (line.startsWith("npm "))
      test(`${at}: npm has the scripts of \`${line.slice(0, 50)}\``, () => assertScripts(line));
    else test(`${at}: ${line.slice(0, 60)}`, () => runLine(line));
  }
}

function assertScripts(line: string): void {
  const { scripts } = manifest;
  for (const command of line.split("&&").filter((part) => part.trim().startsWith("npm "))) {
    const [, verb, name] = command.trim().split(/\s+/);
    if (verb === "run") assert.ok(Object.hasOwn(scripts, name), `no script ${name}`);
    else if (verb === "start" || verb === "test") assert.ok(Object.hasOwn(scripts, verb), `no script ${verb}`);
    else assert.ok(["ci", "install", "link", "pack"].includes(verb), `npm ${verb}`);
  }
}

test("the commands for those who know other tools run", { timeout: 600_000 }, async () => {
  const tables = pages.filter((page) => page.startsWith("docs/from-")).map((page) => readFileSync(page, "utf8"));
  const commands = new Set(
    tables.flatMap((text) => [...text.matchAll(/^\| .* \| `(strobe .*)` \|$/gm)].map(([, one]) => one)),
  );
  assert.ok(commands.size > 40);
  const waiting = [...commands];
  const worker = async (): Promise<void> => {
    for (let line = waiting.pop(); line !== undefined; line = waiting.pop()) await runLine(line, 0);
  };
  await Promise.all([worker(), worker()]);
});

/**
 * Runs a line as a shell does; Ctrl-C after a second, unless it is over before. Without one, it need not have anything to
 * say yet.
 */
async function runLine(line: string, pause = 1000): Promise<void> {
  assert.match(line, /^strobe /, "only strobe and npm are known here");
  const file = /(?:-o |> )([\w.]+)/.exec(line)?.[1];
  const child = spawn("bash", ["-c", line], {
    // What it writes goes with the test.
    cwd: file === undefined ? undefined : folder.path,
    detached: true, // a process group of its own, for the Ctrl-C
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, PATH: `${folder.path}:${process.env["PATH"]}` },
  });
  let stderr = "";
  let size = 0;
  const interrupt = (): void => {
    if (child.pid !== undefined) process.kill(-child.pid, "SIGINT");
  };
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on("data", (data: Buffer) => {
    size += data.length;
  });
  child.stderr.setEncoding("utf8").on("data", (data: string) => {
    stderr += data;
    // What a command is traced for ends with it.
    if ((pause > 0 || !line.includes(" -c ")) && /^Attached \d+ probe/m.test(stderr))
      timer ??= setTimeout(interrupt, pause);
  });
  const deadline = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, "SIGKILL"), 300_000);
  const [code, signal] = await new Promise<[number | null, string | null]>((done) =>
    child.on("close", (...end) => done(end)),
  );
  clearTimeout(timer);
  clearTimeout(deadline);
  // Of all the machine's programs some end, or begin, while their stacks are taken; what is counted as nameless is
  // theirs. Wakeups come in the middle of wakeups, and are counted as missed.
  const expected =
    /^Attached \d+ probes?$|^WARNING: \S+ missed \d+ events? \(its handler was already running\)$|^WARNING: (?:lost \d+ events of \S+|\d+ stacks? (?:ends? early|follows? frame pointers only)|addresses of \d+ process(?:es)? have no names|stacks that were taken before strobe knew what a process runs have no interpreted frames|\d+ interpreted functions? ha(?:s|ve) no name): /;
  const troubles = stderr.split("\n").filter((message) => message !== "" && !expected.test(message));
  assert.deepEqual({ code, signal, troubles }, { code: 0, signal: null, troubles: [] }, line);
  if (file !== undefined) size += statSync(join(folder.path, file)).size;
  if (pause > 0 && !/\bprintf\b/.test(line)) assert.ok(size > 0, "it printed nothing");
}

test("the programs of the pages have right types", () => {
  const examples = inLanguage("ts");
  const types = join(scratch, "types");
  mkdirSync(types, { recursive: true });
  examples.forEach(({ text }, i) => writeFileSync(join(types, `example-${i}.ts`), `${text}\nexport {};\n`));
  writeFileSync(
    join(types, "tsconfig.json"),
    JSON.stringify({
      extends: relative(types, resolve("tsconfig.json")),
      compilerOptions: {
        // People turn it on who want it; a name of a declaration that is not there is an index.
        noPropertyAccessFromIndexSignature: false,
        paths: { strobe: [relative(types, resolve("src/index.ts"))] },
        noUnusedLocals: false,
        types: ["node"],
      },
      include: ["*.ts"],
    }),
  );
  const { stdout, status } = spawnSync("npx", ["tsc", "--noEmit", "-p", types], { encoding: "utf8" });
  assert.equal(stdout, "");
  assert.equal(status, 0);
});

for (const [i, { at, text, output }] of inLanguage("ts").entries()) {
  test(`${at}: the program ${output === undefined ? "runs" : "prints what the page says"}`, async () => {
    // What does not end by itself is aborted a second after its probes are there, as its user would do.
    const shim = join(scratch, `strobe-${i}.mjs`);
    writeFileSync(
      shim,
      `
      import { trace as start } from ${JSON.stringify(library)};
      export * from ${JSON.stringify(library)};
      export const trace = async (first, ...rest) => {
        const options = rest.length > 0 && rest.at(-1).kind !== "probe" ? rest.pop() : {};
        const user = new AbortController();
        const session = await start(first, ...rest, { ...options, signal: AbortSignal.any([user.signal, ...(options.signal ? [options.signal] : [])]) });
        ${output === undefined ? "setTimeout(() => user.abort(), 1000).unref();" : ""}
        return session;
      };
    `,
    );
    const program = join(scratch, `example-${i}.mjs`);
    const source = join(scratch, `example-${i}.ts`);
    writeFileSync(source, text);
    await build({
      entryPoints: [source],
      plugins: [strobePlugin()],
      outfile: program,
      bundle: true,
      platform: "node",
      format: "esm",
      target: "node20.19",
      logLevel: "error",
      alias: { strobe: shim },
      external: [library, "node:*"],
    });
    const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "pipe"] });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (data: string) => {
      stdout += data;
    });
    child.stderr.setEncoding("utf8").on("data", (data: string) => {
      stderr += data;
    });
    const deadline = setTimeout(() => child.kill("SIGKILL"), 300_000);
    const code = await new Promise<number | null>((done) => child.on("close", done));
    clearTimeout(deadline);
    assert.deepEqual({ stderr, code }, { stderr: "", code: 0 });
    if (output !== undefined) assert.equal(stdout, output);
  });
}
