// The allowed content of an upload (worker contract §6, §9): names and links that stay inside the
// workspace. Pure, so that each rule can be tested without an archive. A `.git` is an ordinary
// folder, because the runtime starts no git and standard clients may send one.

import { posix } from 'node:path';
import { err, ok, type Result } from '../../core/failure.ts';

const componentBytesMax = 255;
const pathBytesMax = 4000;
const drivePattern = /^[A-Za-z]:/;

/** The normalized relative path (`''` is the workspace itself), or why the name is refused. */
export function checkName(name: string): Result<string, string> {
  if (name === '') return err('the name is empty');
  if (name.includes('\0')) return err('the name holds a NUL');
  // Bytes that are not UTF-8 were decoded to this character, so two such names could be the same.
  if (name.includes('\uFFFD')) return err('the name is not UTF-8');
  if (name.includes('\\')) return err('the name holds a backslash');
  if (name.startsWith('/') || drivePattern.test(name)) return err('the name is absolute');
  const parts = name.split('/').filter((part) => part !== '' && part !== '.');
  if (parts.includes('..')) return err('the name leads out of its folder');
  const isLong = parts.some((part) => Buffer.byteLength(part) > componentBytesMax);
  const path = parts.join('/');
  if (isLong || Buffer.byteLength(path) > pathBytesMax) return err('the name is too long');
  return ok(path);
}

/** Null, or why the target is refused, whatever else the archive contains. */
export function checkTarget(target: string): string | null {
  if (target === '') return 'the link has no target';
  if (target.includes('\0')) return 'the target holds a NUL';
  if (target.includes('\uFFFD')) return 'the target is not UTF-8';
  if (target.startsWith('/') || drivePattern.test(target)) return 'the link is absolute';
  if (Buffer.byteLength(target) > pathBytesMax) return 'the target is too long';
  return null;
}

/** The kernel's own limit. */
const followedMax = 40;

/**
 * Whether a link leaves the tree. Follows other links, because `a/..` may be somewhere else if `a`
 * is a link.
 * @param links path → target, all relative and normalized
 */
export function escapesTree(path: string, links: ReadonlyMap<string, string>): boolean {
  const waiting = splitTarget(links.get(path) ?? '');
  let at = parentOf(path);
  let followed = 0;
  for (let part = waiting.shift(); part !== undefined; part = waiting.shift()) {
    if (part === '..') {
      if (at === '') return true;
      at = parentOf(at);
      continue;
    }
    const next = at === '' ? part : `${at}/${part}`;
    const target = links.get(next);
    if (target === undefined) {
      at = next;
      continue;
    }
    followed += 1;
    // A cycle of links leads nowhere; the kernel refuses it as well.
    if (followed > followedMax) return false;
    waiting.unshift(...splitTarget(target));
  }
  return false;
}

function splitTarget(target: string): string[] {
  return target.split('/').filter((part) => part !== '' && part !== '.');
}

function parentOf(path: string): string {
  const parent = posix.dirname(path);
  return parent === '.' ? '' : parent;
}
