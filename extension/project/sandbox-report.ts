// Formats the findings of `drover doctor --sandbox --json` as a table and as one sentence.

import { formatCount } from '../../server/core/format.ts';

interface Probe {
  readonly probe: string;
  readonly stopped: boolean;
}

export interface SandboxReport {
  readonly level: 'info' | 'warning';
  readonly sentence: string;
  readonly table: string;
}

/** @param answer the output of the command */
export function sandboxReport(answer: string): SandboxReport {
  const { checks, sandbox } = JSON.parse(answer) as {
    readonly checks?: readonly { readonly name: string; readonly message: string }[];
    readonly sandbox?: readonly Probe[];
  };
  const holds = checks?.find(({ name }) => name === 'sandbox')?.message ?? 'unknown';
  const probes = sandbox ?? [];
  const out = probes.filter(({ stopped }) => !stopped);
  const width = Math.max(0, ...probes.map(({ probe }) => probe.length));
  const lines = probes.map(({ probe, stopped }) => {
    return `${probe.padEnd(width)}  ${stopped ? 'stopped' : 'GETS OUT'}`;
  });
  const table = [`Sandbox: ${holds}`, ...lines].join('\n');
  if (probes.length === 0) {
    const sentence = 'The sandbox was not tested: this folder is not a Drover project.';
    return { level: 'warning', sentence, table };
  }
  const tried = formatCount(probes.length, 'attempt');
  return out.length === 0
    ? { level: 'info', sentence: `The sandbox stopped all ${tried} to get out.`, table }
    : {
        level: 'warning',
        sentence: `${out.length} of ${tried} got out of the sandbox. Agents can do the same.`,
        table,
      };
}
