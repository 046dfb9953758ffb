// The refs that machines share, and the names under which this clone stores them.

import {
  branchRef,
  droverHeadRoot,
  fenceRoot,
  headRoot,
  landRoot,
  rescueRoot,
  resultBranch,
  sharedRoot,
  workRoot,
} from '../../core/work/ref-names.ts';

/** Refs of one line are read together. Only one machine at a time writes an attempt's branch. */
export type RefPlace =
  | { readonly kind: 'line'; readonly line: string }
  | { readonly kind: 'attempt' }
  | { readonly kind: 'work' }
  | { readonly kind: 'local' };

/** Snapshots, and work from before snapshots existed. */
const workRoots = [workRoot, rescueRoot];
const resultRoot = branchRef(resultBranch(''));
const attemptBranch = /^refs\/heads\/drover\/(?!epic\/|results\/).+\/\d+$/u;

/** Matches every attempt's branch, and some others. */
export const attemptPattern = `${droverHeadRoot}*`;

export function parseRefPlace(ref: string): RefPlace {
  if (attemptBranch.test(ref)) return { kind: 'attempt' };
  for (const root of [landRoot, fenceRoot, resultRoot, headRoot]) {
    if (ref.startsWith(root)) return { kind: 'line', line: ref.slice(root.length) };
  }
  return { kind: workRoots.some((root) => ref.startsWith(root)) ? 'work' : 'local' };
}

/** The line of a landing ref, or null. */
export function landedLine(ref: string): string | null {
  return ref.startsWith(landRoot) ? ref.slice(landRoot.length) : null;
}

export function fenceRef(line: string): string {
  return `${fenceRoot}${line}`;
}

/** All refs of a line that are read together. */
export function listLineRefs(line: string): readonly string[] {
  return [landRoot, fenceRoot, headRoot, resultRoot].map((root) => `${root}${line}`);
}

/** The name under which this clone stores a ref fetched from the remote. */
export function privateRef(ref: string): string {
  return `${sharedRoot}${ref.replace(/^refs\/(?:drover\/)?/u, '')}`;
}

/**
 * Refspecs that fetch refs into the private namespace. They are patterns, because fetching a plain
 * name fails if the ref does not exist. They may also fetch other refs that start with the name.
 */
export function fetchPatterns(refs: readonly string[]): readonly string[] {
  return refs.map((ref) => `+${ref}*:${privateRef(ref)}*`);
}
