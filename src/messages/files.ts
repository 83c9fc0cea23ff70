// Files and folders that are not used, because of what they are or whose; files of descriptions of values
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of files that another user can write, and that are there: behind `FILE is not read:`. */
export const fileReasons = {
  irregular: (kind: string): Reason => reason(`it is ${kind}, not a regular file`),
  ofOtherUser: (user: bigint, owner: number): Reason =>
    reason(`it belongs to user ${user}, and is about a process of user ${owner}`),
  tooLarge: (megabytes: number): Reason => reason(`it has more than ${megabytes} MiB`),
  leased: (): Reason => reason("its owner keeps others from opening it (a lease)"),
  replaced: (): Reason => reason("it was replaced while it was opened"),
  withoutBtf: (): Reason => reason("there is no BTF in it"),
};

/** Only of the folder that strobe keeps files in, where another user could change it: behind what is not kept. */
export const folderReasons = {
  notAbsolute: (path: string): Reason => reason(`${path} is not an absolute path`),
  tooManyLinks: (path: string): Reason => reason(`there are too many links on the way to ${path}`),
  mountedInOpen: (path: string): Reason => reason(`${path} is mounted in a folder that others can write to`),
  missing: (path: string): Reason => reason(`there is no ${path}`),
  writable: (path: string): Reason => reason(`others can write to ${path}`),
  ofOtherUser: (path: string, user: number | bigint): Reason => reason(`${path} belongs to another user (uid ${user})`),
  noFolder: (path: string): Reason => reason(`${path} is not a folder`),
};

/** Only of files behind `--values`: behind the file and the line. */
export const descriptionReasons = {
  fileTooLarge: (): Reason => reason("the file is larger than a mebibyte"),
  lineTooLong: (most: number): Reason => reason(`the line is longer than ${most} characters`),
  noForm: (forms: string): Reason => reason(`expected one of ${forms} below the name`),
  noName: (): Reason => reason("expected the name of a type, at the beginning of its line"),
  noType: (): Reason => reason("expected `type NAME $self.MEMBER NUMBER`"),
  noVariable: (): Reason => reason("expected `with NAME EXPRESSION`"),
  badExpression: (word: string, why: Reason): Reason => reason(`${word}: ${why}`),
  doesMore: (word: string): Reason => reason(`${word}: expressions of descriptions read memory, and do nothing else`),
  unknownWord: (word: string, known: string): Reason => reason(`\`${word}\` is none of ${known}`),
  needsParts: (form: string, parts: string): Reason => reason(`${form} needs ${parts}`),
};
