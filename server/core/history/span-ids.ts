// Derives the ids of spans from names, so that a span has the same id whenever and wherever it is
// created.

/** Derives this many hexadecimal digits from the text. */
export type HashHex = (text: string, digits: number) => string;

export function traceIdForRun(hex: HashHex, runId: string): string {
  return hex(`trace/${runId}`, 32);
}

export function spanIdForRun(hex: HashHex, runId: string): string {
  return hex(`run/${runId}`, 16);
}

export function spanIdForTask(hex: HashHex, runId: string, taskId: string): string {
  return hex(`task/${runId}/${taskId}`, 16);
}

/** The span of an attempt's agent, which `TRACEPARENT` passes to the agent. */
export function agentSpanIdForAttempt(
  hex: HashHex,
  runId: string,
  taskId: string,
  attempt: number,
): string {
  return hex(`agent/${runId}/${taskId}/${attempt}`, 16);
}
