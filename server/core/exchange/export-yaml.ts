// Formats a JSON value as block-style YAML. Strings are quoted as in JSON, which every YAML parser
// understands.

export function toYaml(value: unknown): string {
  const lines = linesOf(value);
  return `${lines.join('\n')}\n`;
}

function linesOf(value: unknown): readonly string[] {
  if (Array.isArray(value)) {
    const items: readonly unknown[] = value;
    return items.length === 0 ? ['[]'] : items.flatMap((item) => entryLines('-', item));
  }
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([, item]) => item !== undefined);
    if (entries.length === 0) return ['{}'];
    return entries.flatMap(([key, item]) => entryLines(`${keyText(key)}:`, item));
  }
  return [JSON.stringify(value ?? null)];
}

/** Unquoted if every reader parses it as a string. */
function keyText(key: string): string {
  const plain =
    /^[A-Za-z_][A-Za-z0-9_]*$/.test(key) && !/^(y|n|yes|no|on|off|true|false|null)$/i.test(key);
  return plain ? key : JSON.stringify(key);
}

function entryLines(head: string, value: unknown): readonly string[] {
  const [first = '', ...rest] = linesOf(value);
  const isBlock = typeof value === 'object' && value !== null && first !== '[]' && first !== '{}';
  if (!isBlock) return [`${head} ${first}`];
  if (head === '-') return [`- ${first}`, ...rest.map((line) => `  ${line}`)];
  return [head, ...[first, ...rest].map((line) => `  ${line}`)];
}
