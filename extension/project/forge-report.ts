// The findings of `drover doctor --forge --json` about pull requests, as rows of a list. Pure.

export interface ForgeRow {
  readonly label: string;
  readonly detail: string;
}

export interface ForgeReport {
  readonly title: string;
  readonly rows: readonly ForgeRow[];
}

interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly message: string;
}

const prefix = /^forge ?/u;
const warning = /^warning: /u;

/** @param answer the output of the command */
export function forgeReport(answer: string): ForgeReport {
  const { checks = [] } = JSON.parse(answer) as { readonly checks?: readonly Check[] };
  const found = checks.filter(({ name }) => prefix.test(name));
  const problems = found.filter(({ ok, message }) => !ok || warning.test(message));
  const rows = [...problems, ...found.filter((one) => !problems.includes(one))].map(rowOf);
  const isBlocked = found.some(({ ok }) => !ok);
  return { title: isBlocked ? 'Pull Requests Cannot Land' : 'What Pull Requests Need', rows };
}

function rowOf({ name, ok, message }: Check): ForgeRow {
  const topic = name.replace(prefix, '') || 'repository';
  const icon = !ok ? 'error' : warning.test(message) ? 'warning' : 'pass';
  return {
    label: `$(${icon}) ${topic.charAt(0).toUpperCase()}${topic.slice(1)}`,
    // A message is partly text from the forge, so it must not add its own icons.
    detail: message.replace(warning, '').replaceAll('$(', '$ ('),
  };
}
