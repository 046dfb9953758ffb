// Formats the findings of `drover doctor --json` as a table and as one sentence. Pure.

import { formatCount } from '../../server/core/format.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

export interface SetupReport {
  readonly level: 'info' | 'warning';
  readonly sentence: string;
  readonly table: string;
}

/** @param answer the output of the command */
export function setupReport(answer: string): SetupReport {
  const { checks = [] } = JSON.parse(answer) as { readonly checks?: readonly Check[] };
  const missing = checks.filter(({ ok }) => !ok);
  const width = Math.max(0, ...checks.map(({ name }) => name.length));
  const table = checks
    .map(
      ({ name, ok, message }) => `${ok ? 'ok     ' : 'MISSING'}  ${name.padEnd(width)}  ${message}`,
    )
    .join('\n');
  const [first] = missing;
  if (first === undefined) {
    const count = formatCount(checks.length, 'check');
    return { level: 'info', sentence: `Drover is ready: ${count} passed.`, table };
  }
  const more =
    missing.length === 1 ? '' : ` And ${formatCount(missing.length - 1, 'more problem')}.`;
  const text = `${first.message.charAt(0).toUpperCase()}${first.message.slice(1)}`;
  const sentence = `Setup, ${first.name}: ${text.replace(/\.?$/, '.')}${more}`;
  return { level: 'warning', sentence, table };
}
