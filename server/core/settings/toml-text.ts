// Changes single values in the text of a `.drover.toml` and leaves everything else unchanged. Pure.

type TomlValue = string | number;

const tablePattern = /^\s*\[/;

/**
 * Sets keys of a table, replacing its commented sample if present. Returns null if the file writes
 * the table in a form that cannot be changed safely line by line (dotted keys or an inline table),
 * so a person must change it.
 */
export function withTable(
  text: string,
  table: string,
  values: Readonly<Record<string, TomlValue>>,
): string | null {
  const lines = linesIn(text);
  const isDotted = (line: string): boolean => new RegExp(`^\\s*"?${table}"?\\s*[.=]`).test(line);
  if (lines.slice(0, topEnd(lines)).some(isDotted)) return null;
  const isHeader = (line: string): boolean => new RegExp(`^\\s*\\[\\s*${table}\\s*\\]`).test(line);
  if (!lines.some(isHeader)) {
    const sample = lines.indexOf(`# [${table}]`);
    if (sample !== -1) lines[sample] = `[${table}]`;
    else lines.push(...(lines.length > 0 ? [''] : []), `[${table}]`);
  }
  const header = lines.findIndex(isHeader);
  const below = lines.slice(header + 1).findIndex((line) => tablePattern.test(line));
  let tableEnd = below === -1 ? lines.length : header + 1 + below;
  let last = header;
  for (const [key, value] of Object.entries(values)) {
    const at = keyAt(lines, key, header + 1, tableEnd);
    const line = `${key} = ${JSON.stringify(value)}`;
    if (at !== null && !isOneLine(lines[at] ?? '')) return null;
    if (at !== null) lines[at] = line;
    else {
      lines.splice(last + 1, 0, line);
      tableEnd += 1;
      last += 1;
    }
  }
  return joined(text, lines);
}

/** Sets a key before all tables. */
export function withTopValue(text: string, key: string, value: TomlValue): string {
  const lines = linesIn(text);
  const end = topEnd(lines);
  const sample = lines.slice(0, end).findIndex((each) => each.startsWith(`# ${key} = `));
  const at = keyAt(lines, key, 0, end) ?? (sample === -1 ? null : sample);
  const line = `${key} = ${JSON.stringify(value)}`;
  if (at === null) lines.unshift(line, ...(tablePattern.test(lines[0] ?? '') ? [''] : []));
  else lines[at] = line;
  return joined(text, lines);
}

function linesIn(text: string): string[] {
  return text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
}

/** Preserves the line endings of the original text. */
function joined(before: string, lines: readonly string[]): string {
  const end = /\r\n/.test(before) ? '\r\n' : '\n';
  return lines.join(end) + end;
}

function topEnd(lines: readonly string[]): number {
  const at = lines.findIndex((line) => tablePattern.test(line));
  return at === -1 ? lines.length : at;
}

function keyAt(lines: readonly string[], key: string, from: number, to: number): number | null {
  const pattern = new RegExp(`^\\s*"?${key}"?\\s*=`);
  const at = lines.slice(from, to).findIndex((line) => pattern.test(line));
  return at === -1 ? null : from + at;
}

/** Whether the value is simple and ends on the same line. */
function isOneLine(line: string): boolean {
  const value = line.slice(line.indexOf('=') + 1).trim();
  return !/^("""|'''|\[|\{)/.test(value);
}
