// The extension for VS Code: built whole, moved to a folder of its own, its grammar and its server tried there.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { after, before, test } from "node:test";
import {
  createProtocolConnection,
  StreamMessageReader,
  StreamMessageWriter,
  type InitializeResult,
} from "vscode-languageserver/node";
import oniguruma from "vscode-oniguruma";
import textmate, { type IGrammar } from "vscode-textmate";
import { runScript } from "../../editors/vscode/run.ts";
import { command, temporaryFolder } from "../support/strobe.ts";

const folder = temporaryFolder();
const scripts = temporaryFolder();
const grammars = new Map<string, IGrammar>();

before(async () => {
  const built = spawnSync(process.execPath, [resolve("editors/vscode/build.mjs"), folder.path], {
    encoding: "utf8",
    timeout: 300_000,
  });
  assert.deepEqual([built.stderr, built.status], ["", 0]);
  const wasm = createRequire(import.meta.url).resolve("vscode-oniguruma/release/onig.wasm");
  await oniguruma.loadWASM(readFileSync(wasm).buffer);
  const path = (name: string): string => join(folder.path, `syntaxes/${name.replace("source.", "")}.tmLanguage.json`);
  const registry = new textmate.Registry({
    onigLib: Promise.resolve({
      createOnigScanner: (patterns: string[]) => new oniguruma.OnigScanner(patterns),
      createOnigString: (text: string) => new oniguruma.OnigString(text),
    }),
    loadGrammar: (name) => Promise.resolve(textmate.parseRawGrammar(readFileSync(path(name), "utf8"), path(name))),
  });
  for (const name of ["bpftrace", "systemtap", "dtrace"]) {
    const loaded = await registry.loadGrammar(`source.${name}`);
    assert.ok(loaded !== null);
    grammars.set(name, loaded);
  }
});
after(() => {
  folder.remove();
  scripts.remove();
});

/** Words of a text with the innermost scope of each, those without one left out. */
function scopes(text: string, name = "bpftrace"): string[] {
  let stack = textmate.INITIAL;
  return text.split("\n").flatMap((line) => {
    const { tokens, ruleStack } = grammars.get(name)!.tokenizeLine(line, stack);
    stack = ruleStack;
    return tokens
      .filter((token) => token.scopes.length > 1)
      .map(
        (token) =>
          `${line.slice(token.startIndex, token.endIndex).trim()} ${token.scopes.at(-1)?.replace(`.${name}`, "")}`,
      );
  });
}

test("probes, names and literals are told apart", () => {
  assert.deepEqual(
    scopes('uprobe:/bin/bash:readline /pid == $1/ { @a[comm] = 0x1f; $x = args.b; printf("%d\\n", $x); } // end'),
    [
      "uprobe keyword.control.probe",
      ": punctuation.separator",
      "/bin/bash:readline entity.name.tag",
      "/ keyword.operator",
      "pid support.variable",
      "== keyword.operator",
      "$1 variable.parameter.positional",
      "/ keyword.operator",
      "{ punctuation.section.block.begin",
      "@a variable.other.map",
      "comm support.variable",
      "= keyword.operator",
      "0x1f constant.numeric",
      "$x variable.other.local",
      "= keyword.operator",
      "args support.variable",
      "b variable.other.member",
      "printf support.function",
      '" string.quoted.double',
      "%d constant.other.placeholder",
      "\\n constant.character.escape",
      '" string.quoted.double',
      "$x variable.other.local",
      "} punctuation.section.block.end",
      "// end comment.line.double-slash",
    ],
  );
});

test("declarations and directives", () => {
  assert.deepEqual(scopes("#define N 3\nfn f($a : uint64) : uint64 { return $a; }\n/* a\nb */ struct S { int a; };"), [
    "#define keyword.control.directive",
    "N 3 string.unquoted",
    "fn keyword.declaration",
    "f entity.name.function",
    "$a variable.other.local",
    ": keyword.operator",
    "uint64 storage.type",
    ": keyword.operator",
    "uint64 storage.type",
    "{ punctuation.section.block.begin",
    "return keyword.control",
    "$a variable.other.local",
    "} punctuation.section.block.end",
    "/* comment.block",
    "a comment.block",
    "b comment.block",
    "*/ comment.block",
    "struct storage.type",
    "S entity.name.type",
    "{ punctuation.section.block.begin",
    "int storage.type",
    "} punctuation.section.block.end",
  ]);
});

test("SystemTap's words and D's are told apart, too", () => {
  assert.deepEqual(scopes('probe kernel.trace("a") { n[$x] <<< 2 } # end', "systemtap"), [
    "probe keyword.declaration",
    "kernel.trace entity.name.tag",
    '" string.quoted.double',
    "a string.quoted.double",
    '" string.quoted.double',
    "$x variable.parameter.target",
    "<<< keyword.operator",
    "2 constant.numeric",
    "# end comment.line.number-sign",
  ]);
  assert.deepEqual(scopes("syscall::read:entry /self->a/ { @b = sum(1); }", "dtrace"), [
    "syscall::read:entry entity.name.tag",
    "/ keyword.operator",
    "self keyword.control",
    "-> keyword.operator",
    "/ keyword.operator",
    "@b variable.other.map",
    "= keyword.operator",
    "sum support.function",
    "1 constant.numeric",
  ]);
});

test("the button runs a script, tells its lines and errors, and how it ended", async () => {
  const ran = async (run: string, text: string): Promise<{ lines: string[]; how: string }> => {
    const file = join(scripts.path, "button.bt");
    writeFileSync(file, text);
    const lines: string[] = [];
    const how = await new Promise<string>((done) => {
      runScript(run, file, (line) => lines.push(line), done);
    });
    return { lines, how };
  };
  const strobe = `${process.execPath} ${command} -q`;
  assert.deepEqual(await ran(strobe, 'begin { printf("one\\ntwo\\n"); exit(); }'), {
    lines: ["one", "two"],
    how: "ended with 0",
  });
  const wrong = await ran(strobe, "begin { print(pidd); }");
  assert.match(wrong.lines.join("\n"), /unknown.*pidd/);
  assert.equal(wrong.how, "ended with 1");
  assert.match((await ran("/no/such/strobe", "")).how, /does not start/);
});

test("the package has what its manifest names and what runs, and nothing else", () => {
  const files = readdirSync(folder.path, { recursive: true, encoding: "utf8" }).filter(
    (name) => !statSync(join(folder.path, name)).isDirectory(),
  );
  const manifest = JSON.parse(readFileSync(join(folder.path, "package.json"), "utf8")) as {
    main: string;
    activationEvents: string[];
    contributes: {
      languages: { id: string; configuration?: string }[];
      grammars: { language: string; path: string }[];
      commands: { command: string }[];
      configuration: { properties: Record<string, { scope: string }> };
    };
  };
  const { languages, grammars, commands, configuration } = manifest.contributes;
  const named = [
    manifest.main,
    ...languages.flatMap((one) => one.configuration ?? []),
    ...grammars.map(({ path }) => path),
  ];
  assert.deepEqual(
    named.map((name) => name.replace("./", "")).filter((name) => !files.includes(name)),
    [],
  );
  assert.deepEqual(
    manifest.activationEvents,
    languages.map(({ id }) => `onLanguage:${id}`),
  );
  assert.deepEqual(
    grammars.map(({ language }) => language),
    languages.map(({ id }) => id),
  );
  // A workspace must not say what is run.
  assert.equal(configuration.properties["strobe.server"].scope, "machine");
  const code = readFileSync(join(folder.path, manifest.main), "utf8");
  for (const { command } of commands) assert.ok(code.includes(`"${command}"`), command);
  // At the top they would be left out of the package, as nothing there depends on them.
  assert.deepEqual(
    files.filter((name) => name.startsWith("node_modules/")),
    [],
  );
  assert.ok(files.includes("LICENSE"));
  assert.deepEqual(
    files.filter((name) => !/\.(c?js|json|wasm|node)$|LICENSE(\.txt)?$|^README\.md$/.test(name)),
    [],
  );
});

test("the server that comes with it answers, with nothing else installed", async () => {
  const server = spawn(process.execPath, [join(folder.path, "dist/server.js"), "--stdio"], {
    stdio: ["pipe", "pipe", "inherit"],
    cwd: "/",
    timeout: 300_000,
  });
  const connection = createProtocolConnection(
    new StreamMessageReader(server.stdout),
    new StreamMessageWriter(server.stdin),
  );
  connection.listen();
  const { serverInfo } = await connection.sendRequest<InitializeResult>("initialize", {
    processId: process.pid,
    rootUri: null,
    capabilities: {},
  });
  assert.equal(serverInfo?.name, "strobe");
  await connection.sendRequest("shutdown");
  await connection.sendNotification("exit");
  assert.equal(
    await new Promise((done) => {
      server.once("exit", done);
    }),
    0,
  );
  connection.dispose();
});
