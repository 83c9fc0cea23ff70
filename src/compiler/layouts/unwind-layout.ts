// What the unwinder in the kernel and the session that feeds it agree on. Numbers of rows are powers of four.

/**
 * Of each process (by pid, u32), its mapped code in the order of addresses: u64 start, u64 end, u32 number of a search
 * tree's root, u32 what to add to the distance from the start for the tree's keys. Unused ones start at
 * `unusedAddress`.
 */
export const mappingsKept = 256;
export const mappingBytes = 24;
export const mappingEnd = 8;
export const mappingTree = 16;
export const mappingShift = 20;
/**
 * Of each file: u64 inode, u64 device (as the kernel writes it: major << 20 | minor) to rows like a process's, but of offsets in
 * the file. A file without rules has none of them used.
 */
export const fileKeyBytes = 16;
export const fileRows = 64;
export const unusedAddress = 0x7fff_ffff_ffff_ffffn;

/**
 * A node of a search tree (by number, u32; 0 is none): rows of two u32, the key in front, ascending. A root's rows lead
 * to other nodes, theirs to rules. Unused keys are `unusedKey`.
 */
export const nodeKeys = 256;
export const nodeRowBytes = 8;
export const unusedKey = 0xffff_ffff;

/**
 * Behind a process's rows: the interpreter that it runs, in words of 8 bytes. Offsets are in bytes, of the
 * interpreter's own structures. Of Python:
 */
export const interpreterAt = mappingsKept * mappingBytes;
export const interpreter = {
  /** One of `interpreterKind`; 0: it runs none that is known. */
  kind: 0,
  /** The code of the function that runs frames (its address, its size), and of its other part. */
  low: 8,
  size: 16,
  otherLow: 24,
  otherSize: 32,
  /** The address of the number (u32) of the thread-specific value that is the thread's state. */
  key: 40,
  /**
   * In the thread's state: its pthread_t, and the newest frame; `inner`: where in a structure that is pointed to there,
   * or negative.
   */
  threadId: 48,
  frame: 56,
  inner: 64,
  /** In a frame. */
  executable: 72,
  previous: 80,
  instruction: 88,
  owner: 96,
  /**
   * In a code object: four pointers (file, name, qualified name, table of lines), the instructions, the first line
   * (u32).
   */
  names: 104,
  code: 112,
  firstLine: 120,
  /** The minor one. */
  version: 128,
} as const;
export const interpreterBytes = 136;
export const interpreterKind = {
  /** Python 3.11: a frame says whether its interpreter function was called for it. */
  pythonEntered: 1,
  /** Python 3.12 and later: a frame that is no function's stands where its interpreter function was called. */
  python: 2,
  v8: 3,
} as const;
/** The same words, of V8: offsets count from the tagged pointers that lead to objects, so that they are odd. */
export const v8 = {
  kind: interpreter.kind,
  /**
   * Its function's frame has these at the frame pointer: the function, and above it the context. In a function: its
   * shared part.
   */
  shared: 8,
  /** Of functions: the first of the types of such objects, and how many there are. */
  functionType: 16,
  functionTypes: 24,
  /**
   * In the shared part: the name or the description of its scope, the script, a number (i32) of the function in the
   * script.
   */
  name: 32,
  script: 40,
  literal: 48,
  /** Of scripts: the type, the place of the name and of the number. */
  scriptType: 56,
  scriptName: 64,
  scriptId: 72,
  /** Of descriptions of scopes: the type, and where names of variables begin. */
  scopeType: 80,
  scopeNames: 88,
  version: interpreter.version,
} as const;
/**
 * As version of a function: it is one of V8's, and where in descriptions of scopes the names of variables begin, in
 * words.
 */
export const v8Version = 1 << 16;

/**
 * What was copied of an interpreted function, by such a word with a place of 0: u32 pid, u32 version, u64 code object,
 * its four pointers (see `names`), u32 first line; then the beginnings of three objects, zeroes where they could not be
 * read: the qualified name, the file, the table of lines.
 */
export const functionBytes = 2688;
export const functionAt = {
  pid: 0,
  version: 4,
  object: 8,
  names: 16,
  firstLine: 48,
  qualifiedName: 56,
  file: 56 + 256,
  lines: 56 + 256 + 320,
} as const;
/**
 * Of V8's functions: the scope's description (its first 6 words), 6 words from its function's name on, the inferred
 * name and, where it is made of two parts, the second, like texts (all of them in the room for lines). The map's place
 * in a text has its type (u32) and its length (u32): where it is made of parts, the first is copied.
 */
export const v8FunctionAt = {
  scope: functionAt.lines,
  scopeName: functionAt.lines + 48,
  inferred: functionAt.lines + 96,
  inferredRest: functionAt.lines + 96 + 128,
} as const;
export const v8InferredRoom = 128;
export const v8ScopeWords = 6;
export const functionTexts = { qualifiedName: 256, file: 320, lines: 2056 } as const;

/** Stands for the unwinder among the functions that a handler calls. */
export const UNWINDER = -2;
/** Bytes of its frame, with what may_goto keeps there, and of that of what it calls. */
export const UNWINDER_STACK = 96;

/** Of a capture's memory: where it keeps what it reads of an interpreted function. */
export const interpretedAt = 264;
/**
 * What a capture needs of memory: u32 frames, u32 why it ended early, what the walk keeps, then return addresses and a
 * zero.
 */
export const unwoundBytes = (frames: number): number => unwoundAddresses + frames * 8 + 8;
export const unwoundAddresses = interpretedAt + functionBytes;
