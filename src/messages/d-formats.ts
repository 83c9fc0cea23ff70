// Scripts in D: formats of printf() and printa(), in DTrace's words and with its tags.
import { tagged, type Message } from "./message.ts";

export const dFormats = {
  /** @example BEGIN { x = "%d"; printf(x, 1); } */
  formatConstant: (name: string, argument: string): Message =>
    tagged(
      "D_PRINTF_ARG_FMT",
      "type",
      `${name}( ) argument #1 is incompatible with prototype:\n\tprototype: string constant\n\t argument: ${argument}`,
    ),
  /** @example BEGIN { printf(""); } */
  emptyFormat: (name: string): Message =>
    tagged("D_PRINTF_FMT_EMPTY", "arguments", `${name}( ) format string is empty`),
  /** @example BEGIN { printf("%Z", 1); } */
  undefinedConversion: (number: number, conversion: string): Message =>
    tagged("D_SYNTAX", "syntax", `format conversion #${number} is undefined: ${conversion}`),
  /** @example BEGIN { printf("%"); } */
  endlessConversion: (number: number): Message =>
    tagged("D_SYNTAX", "syntax", `format conversion #${number} name expected before end of format string`),
  /** @example BEGIN { printf("%@d", 1); } */
  aggregationConversion: (name: string): Message =>
    tagged("D_PRINTF_AGG_CONV", "type", `%@ conversion requires an aggregation and is not for use with ${name}( )`),
  /** @example BEGIN { printf("%d %d", 1); } */
  prototypeConversion: (name: string, number: number, conversion: string): Message =>
    tagged(
      "D_PRINTF_ARG_PROTO",
      "arguments",
      `${name}( ) prototype mismatch: conversion #${number} (${conversion}) is missing a corresponding value argument`,
    ),
  /** @example BEGIN { printf("%d", 1, 2); } */
  argumentsUnused: (name: string, wanted: number): Message =>
    tagged(
      "D_PRINTF_ARG_EXTRA",
      "arguments",
      `${name}( ) prototype mismatch: only ${wanted - 1} arguments required by this format string`,
    ),
  /** @example BEGIN { printf("%s", 1); } */
  conversionType: (
    name: string,
    number: number,
    position: number,
    conversion: string,
    prototype: string,
    argument: string,
  ): Message =>
    tagged(
      "D_PRINTF_ARG_TYPE",
      "type",
      `${name}( ) argument #${number} is incompatible with conversion #${position} prototype:\n\tconversion: ${conversion}\n\t prototype: ${prototype}\n\t  argument: ${argument}`,
    ),
  /** @example BEGIN { @a = count(); printa("%@s", @a); } */
  aggregationText: (number: number, conversion: string): Message =>
    tagged(
      "D_PRINTF_ARG_TYPE",
      "type",
      `printa( ) aggregating action is incompatible with conversion #${number} prototype:\n\tconversion: ${conversion}\n\t prototype: char [] or string (or use stringof)\n\t  argument: uint64_t`,
    ),
  /** @example BEGIN { printf("%*d", "x", 1); } */
  roomType: (name: string, argument: number, number: number, conversion: string, type: string): Message =>
    tagged(
      "D_PRINTF_DYN_TYPE",
      "type",
      `${name}( ) argument #${argument} is incompatible with conversion #${number} prototype:\n\tconversion: ${conversion}\n\t prototype: int\n\t  argument: ${type}`,
    ),
} as const;
