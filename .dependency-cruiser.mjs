// The floors of docs/architecture.md: a room imports only from lower floors (and from itself).
const floors = [
  ["base"],
  ["messages"],
  ["bpf", "debuginfo", "linux", "store"],
  ["language", "recordings"],
  ["machine"],
  ["providers"],
  ["compiler"],
  ["session"],
  ["output"],
  ["api", "rewrite"],
  ["lsp", "declare"],
  ["cli"],
];

const rules = floors.flatMap((rooms, floor) =>
  rooms.map((room) => {
    const allowed = [room, ...floors.slice(0, floor).flat()];
    return {
      name: `${room}-imports-only-from-lower-floors`,
      severity: "error",
      from: { path: `^src/${room}/`, pathNot: "\\.test\\.ts$" },
      to: { path: "^src/", pathNot: `^src/(${allowed.join("|")})/` },
    };
  }),
);

export default {
  forbidden: [
    ...rules,
    {
      name: "only-linux-calls-the-kernel",
      comment: "FFI lives in src/linux alone.",
      severity: "error",
      from: { path: "^src/", pathNot: "^src/linux/" },
      to: { path: "koffi" },
    },
    {
      name: "compiler-calls-nothing",
      comment:
        "Above the plan everything is deterministic: no Linux calls from the compiler or the languages, " +
        "which know just the record of what a kernel can do.",
      severity: "error",
      from: { path: "^src/(compiler|language)/", pathNot: "\\.test\\.ts$" },
      to: { path: "^src/(linux|store)/", pathNot: "^src/linux/kernel/capabilities\\.ts$" },
    },
    {
      name: "sessions-know-no-engine",
      comment:
        "What is the kernel's of a session is behind Source (session/source.ts), in session/live and session/tracefs.",
      severity: "error",
      from: { path: "^src/session/", pathNot: "^src/session/(live|tracefs)/|\\.test\\.ts$" },
      to: { path: "^src/(bpf|debuginfo|linux|machine|providers|session/(live|tracefs))/" },
    },
    {
      name: "no-circular",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "\\.test\\.ts$" },
    tsPreCompilationDeps: true,
    // TypeScript 7 has no JavaScript API to parse with.
    parser: "swc",
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: { extensions: [".ts", ".js", ".mjs"] },
  },
};
