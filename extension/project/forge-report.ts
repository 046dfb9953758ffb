// The findings of `drover doctor --forge --json` about pull requests, as rows of a table. Pure.

import type { RulesReport } from '../../webview/messages/messages.ts';

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

const prefix = /^forge ?/u;
const warning = /^warning: /u;

/** @param answer the output of the command */
export function forgeReport(answer: string): RulesReport {
  const { checks = [] } = JSON.parse(answer) as { readonly checks?: readonly Check[] };
  const found = checks.filter(({ name }) => prefix.test(name));
  const problems = found.filter(({ ok, message }) => !ok || warning.test(message));
  const rows = [...problems, ...found.filter((one) => !problems.includes(one))].map(rowOf);
  return { isBlocked: found.some(({ ok }) => !ok), rows };
}

function rowOf({ name, ok, message }: Check): RulesReport['rows'][number] {
  const topic = name.replace(prefix, '') || 'repository';
  return {
    topic: `${topic.charAt(0).toUpperCase()}${topic.slice(1)}`,
    level: !ok ? 'error' : warning.test(message) ? 'warning' : 'pass',
    message: message.replace(warning, ''),
  };
}
