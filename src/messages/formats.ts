// What cannot be printed by a format of printf()
import type { Reason } from "../base/failure.ts";
import { reason } from "./message.ts";

/** Only of formats of printf() and its kin: behind `bad format:`. */
export const formatReasons = {
  starWidth: (): Reason => reason("a field width of * is not supported"),
  tooWide: (conversion: string, most: number): Reason =>
    reason(`\`${conversion}\` is too wide: a width and a precision are at most ${most}`),
};
