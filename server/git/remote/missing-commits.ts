// Finds commits that the plan refers to but no ref of the shared remote contains, after one of the
// two was restored from a backup.

import { err, ok } from '../../core/failure.ts';
import { headRoot, landRoot, rescueRoot, workRoot } from '../../core/work/ref-names.ts';
import { failureOf } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { LocalRepository } from '../local-port.ts';
import { fetchPatterns } from './names.ts';
import { openRemote, parseListing, type RemoteOptions } from './remote.ts';
import type { Sha } from '../sha.ts';

const roots = [headRoot, landRoot, rescueRoot, workRoot];

export interface MissingCommit {
  readonly commit: Sha;
  /** Whether this clone has the commit, so that it can be pushed from here. */
  readonly isHere: boolean;
}

export async function missingOnRemote(
  { context }: LocalRepository,
  options: Pick<RemoteOptions, 'branchPrefix' | 'remote' | 'timeoutMs'>,
  commits: readonly Sha[],
): Promise<GitResult<readonly MissingCommit[]>> {
  const remote = openRemote(context, { ...options, pausesMs: [] });
  const fetched = await remote.fetch(fetchPatterns(roots), []);
  if (!fetched.ok) return fetched;
  const listed = await remote.list(
    [],
    roots.map((root) => `${root}*`),
  );
  if (!listed.ok) return listed;
  const tips = [...new Set(parseListing(listed.value).values())];
  const known = await context.git(['cat-file', '--batch-check=%(objectname) %(objecttype)'], {
    input: [...commits, ...tips].map((sha) => `${sha}\n`).join(''),
  });
  if (known.code !== 0) return err(failureOf(known, 'look for commits'));
  const here = new Set(
    known.stdout
      .toString('utf8')
      .split('\n')
      .flatMap((line) => (line.endsWith(' commit') ? [line.split(' ', 1)[0] ?? ''] : [])),
  );
  const outside = await context.git(['rev-list', '--stdin'], {
    input: [
      ...commits.filter((sha) => here.has(sha)),
      ...tips.filter((sha) => here.has(sha)).map((sha) => `^${sha}`),
    ]
      .map((line) => `${line}\n`)
      .join(''),
  });
  if (outside.code !== 0) return err(failureOf(outside, 'look for commits'));
  const unpushed = new Set(outside.stdout.toString('utf8').split('\n'));
  return ok(
    commits
      .filter((sha) => !here.has(sha) || unpushed.has(sha))
      .map((commit) => ({ commit, isHere: here.has(commit) })),
  );
}
