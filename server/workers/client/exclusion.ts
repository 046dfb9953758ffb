// Which paths are never sent to a worker and never accepted from one. Pure: takes names, returns
// reasons.

import type { ExclusionReason } from '../../core/work/left-out.ts';

/** Never packed and never accepted, tracked or not. */
const ownNames: ReadonlySet<string> = new Set([
  '.git',
  '.drover',
  '.drover-code-workers',
  '.drover-job',
]);

/**
 * Omitted only if git does not track them, because a repository may have such a folder on purpose.
 */
export const dependencyNames: readonly string[] = [
  'node_modules',
  'dist',
  'target',
  '__pycache__',
  '.venv',
  'venv',
  '.unikraft',
];

const secretNames: readonly RegExp[] = [
  /^\.env$/,
  /^\.env\./,
  /\.(pem|key|p12|pfx|jks|tfvars)$/,
  /^credentials/,
  /^id_(rsa|ed25519)/,
  /^\.(netrc|npmrc|pypirc|git-credentials|envrc|aws|ssh)$/,
  /service-account.*\.json$/,
];

/** Returns null if the path may be transferred. `path` is relative, with forward slashes. */
export function exclusionReason(path: string, isTracked: boolean): ExclusionReason | null {
  const names = path.split('/').map((name) => name.toLowerCase());
  if (names.some((name) => ownNames.has(name))) return 'own';
  if (names.some((name) => secretNames.some((pattern) => pattern.test(name)))) return 'secret';
  if (!isTracked && names.some((name) => dependencyNames.includes(name))) return 'dependency';
  return null;
}

/** Limits of an upload, in bytes of uncompressed regular files. */
export interface UploadCaps {
  readonly fileBytes: number;
  readonly totalBytes: number;
}

const mebibyte = 1024 * 1024;
export const uploadCaps: UploadCaps = { fileBytes: 10 * mebibyte, totalBytes: 500 * mebibyte };

/** The contract's sentence for an exceeded limit; null if both limits are kept. */
export function brokenCap(
  file: { readonly path: string; readonly bytes: number },
  totalBytes: number,
  caps: UploadCaps,
): string | null {
  if (file.bytes > caps.fileBytes) {
    return `workspace exclusion: file ${file.path} exceeds max size (${file.bytes} > ${caps.fileBytes} bytes)`;
  }
  if (totalBytes > caps.totalBytes) {
    return `workspace exclusion: total payload exceeds max (${totalBytes} > ${caps.totalBytes} bytes)`;
  }
  return null;
}

/**
 * Whether a link at `path` stays inside the tree. Decided only by names, so that nothing is
 * followed.
 */
export function staysInside(path: string, target: string): boolean {
  if (target === '' || target.startsWith('/') || /^[A-Za-z]:/.test(target)) return false;
  if (target.includes('\\') || target.includes('\0') || !isText(target)) return false;
  const place = path.split('/').slice(0, -1);
  for (const name of target.split('/')) {
    if (name === '' || name === '.') continue;
    if (name !== '..') place.push(name);
    else if (place.pop() === undefined) return false;
  }
  return !place.some((name) => ownNames.has(name.toLowerCase()));
}

/**
 * Returns false for a name that is not UTF-8: this character replaced each byte that could not be
 * decoded, so the decoded name does not find the file.
 */
export const isText = (name: string): boolean => !name.includes('\uFFFD');

/**
 * Converts a name from a worker's archive to a relative path. Returns null if it could lead
 * elsewhere.
 */
export function safePath(name: string): string | null {
  const path = name.replace(/^(\.\/)+/, '').replace(/\/+$/, '');
  if (path === '' || path === '.') return path === '' && name !== '' ? '' : null;
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return null;
  if (path.includes('\\') || path.includes('\0')) return null;
  const names = path.split('/');
  return names.some((part) => part === '' || part === '.' || part === '..') ? null : path;
}
