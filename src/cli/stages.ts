// `-d`: what became of a script, stage by stage.
import { disassemble } from "../bpf/disassembler.ts";
import type { CompiledScript } from "../api/compile.ts";
import type { Plan } from "../compiler/plan.ts";
import { eventLines } from "../compiler/tracefs/event-lines.ts";
import { printModule } from "../compiler/ir/print-ir.ts";
import { printTree } from "../language/print-tree.ts";
import { hasHistograms } from "../linux/kernel/tracefs.ts";
import type { Stage } from "./flags.ts";

/** `--explain`: which engine, where handlers run, and what tracefs is given. */
export function explanation({ machine }: CompiledScript, { tracefs, placements, hosts }: Plan): string {
  if (tracefs === undefined) return ["engine: eBPF", ...placements, ""].join("\n");
  return [
    "engine: tracefs: handlers run in strobe, over records of these events",
    ...eventLines(tracefs, {
      tracepoint: (category, name) => machine.tracepoint(category, name),
      histograms: hasHistograms(),
    }),
    ...hosts.map(({ name }) => `${name}\n  by strobe itself`),
    "",
  ].join("\n");
}

export function stagesText(compiled: CompiledScript, plan: Plan, stages: readonly Stage[]): string {
  const wants = (stage: Stage): boolean => stages.includes(stage) || stages.includes("all");
  let text = "";
  if (wants("tree")) text += `── tree ──\n${printTree(compiled.program)}\n`;
  if (wants("ir") && compiled.stages.module)
    text += `── where handlers run ──\n${plan.placements.map((line) => `${line}\n`).join("")}\n`;
  if (wants("ir") && compiled.stages.module)
    text += `── intermediate code ──\n${printModule(compiled.stages.module, plan.schemas)}\n`;
  if (wants("asm")) {
    text += "── bytecode ──\n";
    for (const { name, type, code } of plan.bpf.programs) {
      text += `${name} (${type}, ${code.length / 8} instructions)\n${disassemble(code)
        .map((line) => `  ${line}\n`)
        .join("")}\n`;
    }
    for (const { name, source } of plan.hosts) text += `${name} (on the host)\n${source}\n`;
    for (const { action, probe } of plan.schemas)
      if (action.kind === "captured") text += `${probe} (on the host, of what is captured)\n${action.source}\n`;
  }
  return text;
}
