// Reads the head of a checkout only from files, because starting git takes longer than the rest of
// such a query.

import { headRoot } from '../../core/work/ref-names.ts';
import { lstatSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { isSha } from '../sha.ts';
import { PackedRefs } from './packed-refs.ts';
import { readText } from '../../files/small-files.ts';
import { isFullRef } from './refs.ts';

export interface CheckoutHead {
  /** Real path of the checkout. */
  readonly root: string;
  /** Null if HEAD is detached. */
  readonly headBranch: string | null;
  /** The commit of a ref; null = it does not exist; undefined = only git can tell. */
  readonly readRef: (ref: string) => string | null | undefined;
}

/** Conditions under which the files do not have their usual meaning, so that git must be asked. */
const unusual = /^\s*(?:refstorage|worktree)\s*=|^\s*bare\s*=\s*true/im;

/**
 * Returns null if the folder is not an ordinary checkout of this user, so that git must be asked.
 */
export function readCheckoutHead(folder: string): CheckoutHead | null {
  const commonDir = join(folder, '.git');
  const facts = lstatSync(commonDir, { throwIfNoEntry: false });
  const uid = process.getuid?.();
  if (facts?.isDirectory() !== true || (uid !== undefined && facts.uid !== uid)) return null;
  const config = readText(join(commonDir, 'config'));
  const head = readText(join(commonDir, 'HEAD'))?.trim();
  if (config === null || head === undefined || unusual.test(config)) return null;
  const headRef = head.startsWith('ref: ') ? head.slice('ref: '.length).trim() : null;
  if (headRef === null ? !isSha(head) : !isFullRef(headRef)) return null;
  const packed = new PackedRefs(commonDir);
  return {
    root: realpathSync(folder),
    headBranch: headRef?.startsWith(headRoot) ? headRef.slice(headRoot.length) : null,
    readRef: (ref) => {
      if (!isFullRef(ref)) return null;
      // Reading the loose file again detects that refs were packed in between.
      const loose = (): string | null => readText(join(commonDir, ref))?.trim() ?? null;
      const content = loose() ?? packed.find(ref) ?? loose();
      return content === null || isSha(content) ? content : undefined;
    },
  };
}
