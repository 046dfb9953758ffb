// Addresses of files at a commit: `drover-git:/path?{"sha":…,"path":…,"root":…}`. The query
// identifies the file; the path gives the tab its name and the editor its language. Pure.

export const gitScheme = 'drover-git';

export interface GitFile {
  /** Root of the repository, which determines the backend. */
  readonly root: string;
  readonly sha: string;
  /** Relative to the root, with slashes; null means "no such file at this commit". */
  readonly path: string | null;
  /** The reviewed task or epic, which comments belong to. */
  readonly review: string;
  readonly side: 'base' | 'head';
}

/** The parts of an address, for `vscode.Uri.from`. */
export interface UriParts {
  readonly scheme: string;
  readonly path: string;
  readonly query: string;
}

export function toUriParts(file: GitFile, shownPath: string): UriParts {
  const { root, sha, path, review, side } = file;
  const query = JSON.stringify({ root, sha, path, review, side });
  return { scheme: gitScheme, path: `/${shownPath}`, query };
}

/** Returns null for a foreign address. Any web page can create one, so every field is checked. */
export function readUri(parts: UriParts): GitFile | null {
  if (parts.scheme !== gitScheme) return null;
  let raw: unknown;
  try {
    raw = JSON.parse(parts.query);
  } catch {
    return null;
  }
  if (typeof raw !== 'object' || raw === null) return null;
  const { root, sha, path, review, side } = raw as Readonly<Record<string, unknown>>;
  if (typeof root !== 'string' || typeof sha !== 'string' || typeof review !== 'string')
    return null;
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u.test(sha)) return null;
  if (path !== null && (typeof path !== 'string' || !isInside(path))) return null;
  if (side !== 'base' && side !== 'head') return null;
  return { root, sha, path, review, side };
}

/** Only names of files in the tree are allowed: nothing absolute, and no `..`. */
function isInside(path: string): boolean {
  if (path === '' || path.includes('\0')) return false;
  return path.split('/').every((part) => part !== '' && part !== '.' && part !== '..');
}
