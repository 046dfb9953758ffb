// Derives the ids of spans from names, so that a span has the same id whenever and wherever it is
// created.

/** Derives this many hexadecimal digits from the text. */
export type HexOf = (text: string, digits: number) => string;

export function traceIdOf(hex: HexOf, runId: string): string {
  return hex(`trace/${runId}`, 32);
}

export function runSpanIdOf(hex: HexOf, runId: string): string {
  return hex(`run/${runId}`, 16);
}

export function taskSpanIdOf(hex: HexOf, runId: string, taskId: string): string {
  return hex(`task/${runId}/${taskId}`, 16);
}

/** The span of an attempt's agent, which `TRACEPARENT` passes to the agent. */
export function agentSpanIdOf(hex: HexOf, runId: string, taskId: string, attempt: number): string {
  return hex(`agent/${runId}/${taskId}/${attempt}`, 16);
}
