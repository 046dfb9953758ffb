// Writes who makes the workers into the text of a `.drover.toml`, and leaves all else as it is.
// Pure.

export interface RemoteSetup {
  /** Keys of `[remote]` with their values. */
  readonly remote: Readonly<Record<string, string>>;
  /** Whether all tasks run on workers; null: keep the file's value. */
  readonly runsOn: 'remote' | 'local' | null;
}

const tablePattern = /^\s*\[/;

/**
 * Null: the file contains it in a form that cannot be safely changed line by line (dotted keys, an
 * inline table); a person must change it.
 */
export function withRemote(text: string, { remote, runsOn }: RemoteSetup): string | null {
  const end = /\r\n/.test(text) ? '\r\n' : '\n';
  const lines = text === '' ? [] : text.replace(/\r?\n$/, '').split(/\r?\n/);
  const topEnd = (): number => {
    const at = lines.findIndex((line) => tablePattern.test(line));
    return at === -1 ? lines.length : at;
  };
  if (lines.slice(0, topEnd()).some((line) => /^\s*"?remote"?\s*[.=]/.test(line))) return null;
  if (!lines.some((line) => /^\s*\[\s*remote\s*\]/.test(line))) {
    if (lines.length > 0) lines.push('');
    lines.push('[remote]');
  }
  const header = lines.findIndex((line) => /^\s*\[\s*remote\s*\]/.test(line));
  const below = lines.slice(header + 1).findIndex((line) => tablePattern.test(line));
  let tableEnd = below === -1 ? lines.length : header + 1 + below;
  let last = header;
  for (const [key, value] of Object.entries(remote)) {
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
  if (runsOn !== null) {
    const at = keyAt(lines, 'runs_on', 0, topEnd());
    const line = `runs_on = ${JSON.stringify(runsOn)}`;
    if (at === null) lines.unshift(line, ...(tablePattern.test(lines[0] ?? '') ? [''] : []));
    else lines[at] = line;
  }
  return lines.join(end) + end;
}

function keyAt(lines: readonly string[], key: string, from: number, to: number): number | null {
  const pattern = new RegExp(`^\\s*"?${key}"?\\s*=`);
  const at = lines.slice(from, to).findIndex((line) => pattern.test(line));
  return at === -1 ? null : from + at;
}

/** A plain value that ends where its line does. */
function isOneLine(line: string): boolean {
  const value = line.slice(line.indexOf('=') + 1).trim();
  return !/^("""|'''|\[|\{)/.test(value);
}

/** Names of single hosts in a person's ssh configuration: what `Host` lines name without signs. */
export function hostsOf(sshConfig: string): readonly string[] {
  const names = sshConfig
    .split(/\r?\n/)
    .flatMap((line) => /^\s*Host(?:\s+|\s*=\s*)(.+)$/i.exec(line)?.[1]?.trim().split(/\s+/) ?? []);
  return [...new Set(names.map((name) => name.replaceAll('"', '')))].filter(
    (name) => name !== '' && !/[*?!]/.test(name),
  );
}
