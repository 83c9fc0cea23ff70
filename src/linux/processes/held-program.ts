// The program that a command of -c is until it begins: it asks to be killed with strobe's thread, tells that it waits,
// waits for a byte, and executes the command. What asks must be the process itself, which Node cannot be made to; so
// this is a file of a few instructions that is in no folder (memfd_create(2)).
import { writeSync } from "node:fs";
import { EINVAL } from "../error.ts";
import { cString, syscall } from "../ffi.ts";

/**
 * Of its argument list the second is the file, and what is behind it the command's own list. Descriptor 3 is read, 4 is told, and both close as the
 * command begins.
 *
 *     prctl(PR_SET_PDEATHSIG, SIGKILL); prctl(PR_SET_NAME, "strobe");
 *     fcntl(3, F_SETFD, FD_CLOEXEC); fcntl(4, F_SETFD, FD_CLOEXEC);
 *     write(4, sp, 1);
 *     if (read(3, below, 1) == 1) {
 *       int error = execve(argv[1], argv + 2, envp);
 *       if (error == -ENOEXEC)   // a script without #!, as execvp(3) has it
 *         argv[2] = argv[1], argv[1] = "/bin/sh", error = execve(argv[1], argv + 1, envp);
 *       error = -error, write(4, &error, 4);
 *     }
 *     exit(127);
 *
 * Whoever dies before the first call has left the pipe of descriptor 3 without a writer, which ends the wait: no moment
 * is without a guard.
 */
const code = {
  x64: `
    bf01000000 be09000000 b89d000000 0f05  bf0f000000 488d35b4000000 b89d000000 0f05
    bf03000000 be02000000 ba01000000 b848000000 0f05  bf04000000 b848000000 0f05
    bf04000000 4889e6 b801000000 0f05  bf03000000 488d7424f0 31c0 0f05  83f801 755d
    488b0424 488d54c410 488b7c2410 488d742418 b83b000000 0f05  83f8f8 7522
    488b442410 4889442418 488d3d40000000 48897c2410 488d742410 b83b000000 0f05
    f7d8 894424f0 bf04000000 488d7424f0 ba04000000 b801000000 0f05  bf7f000000 b83c000000 0f05
    7374726f626500 2f62696e2f736800`,
  arm64: `
    200080d2 210180d2 e81480d2 010000d4  e00180d2 a1050010 e81480d2 010000d4
    600080d2 410080d2 220080d2 280380d2 010000d4  800080d2 010000d4
    800080d2 e1030091 080880d2 010000d4  600080d2 e14300d1 e80780d2 010000d4  1f0400f1 e1020054
    e90340f9 e2430091 420c098b e00b40f9 e1630091 a81b80d2 010000d4  1f2000b1 e1000054
    e90b40f9 e90f00f9 e0010070 e00b00f9 e1430091 010000d4
    e003004b e0031fb8 800080d2 e14300d1 820080d2 080880d2 010000d4  e00f80d2 a80b80d2 010000d4
    7374726f626500 2f62696e2f736800`,
} as const;

const address = 0x400000n;
const headers = 64 + 56;

/** An ELF file of one segment: its headers, and code. */
function executable(): Buffer {
  const arm64 = process.arch === "arm64";
  const text = Buffer.from(code[arm64 ? "arm64" : "x64"].replace(/\s/g, ""), "hex");
  const file = Buffer.alloc(headers + text.length);
  // e_ident: 64 bits, little-endian, version 1
  file.write("\x7fELF\x02\x01\x01", "latin1");
  file.writeUInt16LE(2, 16); // ET_EXEC
  file.writeUInt16LE(arm64 ? 183 : 62, 18);
  file.writeUInt32LE(1, 20);
  file.writeBigUInt64LE(address + BigInt(headers), 24); // entry
  file.writeBigUInt64LE(64n, 32); // program headers
  file.writeUInt16LE(64, 52);
  file.writeUInt16LE(56, 54);
  file.writeUInt16LE(1, 56);
  file.writeUInt32LE(1, 64); // PT_LOAD
  file.writeUInt32LE(5, 68); // PF_R | PF_X
  file.writeBigUInt64LE(address, 80);
  file.writeBigUInt64LE(address, 88);
  file.writeBigUInt64LE(BigInt(file.length), 96);
  file.writeBigUInt64LE(BigInt(file.length), 104);
  file.writeBigUInt64LE(0x10000n, 112); // the largest page of arm64
  text.copy(file, headers);
  return file;
}

const MEMFD_CREATE = process.arch === "arm64" ? 279 : 319;
const MFD_CLOEXEC = 1;
/** Since Linux 6.3; where vm.memfd_noexec asks for it. */
const MFD_EXEC = 0x10;

/** A descriptor of the program, closed on exec; undefined where files without a folder may not be executed. */
export function heldProgram(): number | undefined {
  const name = cString("strobe");
  let descriptor = syscall(MEMFD_CREATE, name, MFD_CLOEXEC | MFD_EXEC);
  if (descriptor === -EINVAL) descriptor = syscall(MEMFD_CREATE, name, MFD_CLOEXEC);
  if (descriptor < 0) return undefined;
  writeSync(descriptor, executable());
  return descriptor;
}
