// Detects a file's format by its content: file names are unreliable.

export type ImportFormat = 'session' | 'jsonl' | 'beads';

/** JSONL by default, because its messages are the most useful ones. */
export function sniffFormat(file: { readonly text: string; readonly file: string }): ImportFormat {
  const text = file.text.replace(/^\uFEFF/u, '').trimStart();
  const first = firstRecord(text);
  if (first !== null) {
    if ('version' in first && ('tasks' in first || 'exportedAt' in first)) return 'session';
    const isShapeA =
      isObject(first['data']) && ['epic', 'bead', 'link'].includes(String(first['type']));
    const isShapeB = 'title' in first && 'status' in first && !('type' in first);
    if (isShapeA || isShapeB || 'issue_type' in first) return 'beads';
    return 'jsonl';
  }
  // A session is usually one object over many lines.
  if (/^\{\s*\r?\n/u.test(text) || file.file.toLowerCase().endsWith('.drover')) return 'session';
  return 'jsonl';
}

/**
 * Detected by its name, or by the start that `export` writes; a file of records is never one,
 * whatever its name.
 */
export function isYaml(file: { readonly text: string; readonly file: string }): boolean {
  if (/^\s*[{[]/u.test(file.text.replace(/^\uFEFF/u, ''))) return false;
  return /\.ya?ml$/iu.test(file.file) || /^(?:---\s*\n)?version: /u.test(file.text);
}

function firstRecord(text: string): Readonly<Record<string, unknown>> | null {
  for (let start = 0; start < text.length;) {
    const found = text.indexOf('\n', start);
    const end = found === -1 ? text.length : found;
    const line = text.slice(start, end).trim();
    start = end + 1;
    if (line === '' || line.startsWith('#')) continue;
    try {
      const value: unknown = JSON.parse(line);
      // bd stores its own notes in the file.
      if (isObject(value) && value['_type'] === 'memory') continue;
      return isObject(value) ? value : null;
    } catch {
      return null;
    }
  }
  return null;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
