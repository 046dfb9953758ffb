// Reads the commits and files between two commits.

import { touchedPaths } from './touched-paths.ts';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { MadeOnce } from '../../core/made-once.ts';
import type { RepositoryContext } from '../context.ts';
import { failureOf, refuse } from '../failures.ts';
import { shown, splitZero } from '../../files/path-bytes.ts';
import { GitRefusal, type GitResult, type LineCommit } from '../port.ts';
import { rememberBounded } from './objects.ts';
import { exists } from '../../files/small-files.ts';
import { isSha, type Sha } from '../sha.ts';

const commitsMax = 10_000;

/** Truncates a diff above the output limit. User settings and programs do not change its format. */
export async function diff(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
  paths: readonly string[] = [],
): Promise<GitResult<string>> {
  const form = ['-r', '-p', '-M', '--no-color', '--no-ext-diff', '--no-textconv'];
  const args = ['diff-tree', ...form, from, to, '--', ...paths.map((path) => `:(literal)${path}`)];
  const output = await between(context, from, to, args, true);
  return output.ok ? ok(output.value.toString('utf8')) : output;
}

export async function changedPaths(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
  counting: string | null = null,
): Promise<GitResult<readonly string[]>> {
  const known = counting === null ? touchedPaths(context).of(from, to) : null;
  if (known !== null) return ok(known);
  // A renamed file contains a text as often as before.
  const how = counting === null ? ['--no-renames'] : ['--find-renames', `-S${counting}`];
  const args = ['diff-tree', '-r', '-z', '--name-only', '--no-textconv', ...how, from, to];
  const output = await between(context, from, to, args);
  return output.ok ? ok(splitZero(output.value).map(shown)) : output;
}

/** The oldest commit on the first-parent line of HEAD; null before the first and if shallow. */
export async function rootCommit(context: RepositoryContext): Promise<Sha | null> {
  const output = await context.git(['rev-list', '--first-parent', '--max-parents=0', 'HEAD']);
  const sha = output.stdout.toString('latin1').trim();
  const isCutOff = exists(join(context.commonDir, 'shallow'));
  return output.code === 0 && isSha(sha) && !isCutOff ? sha : null;
}

/** Ignores case, as some file systems do. Returns true if unknown. */
export async function tracksAny(
  context: RepositoryContext,
  paths: readonly string[],
): Promise<boolean> {
  const names = paths.map((path) => `:(icase,literal)${path}`);
  const output = await context.git(['ls-files', '-z', '--', ...names], { truncate: true });
  return output.code !== 0 || output.stdout.length > 0;
}

const fieldsOfCommit = 5;

/** Parses records of `%H %P %T %s %(trailers)`, whose fields end with a zero byte. */
export function parseLineCommits(output: Buffer): LineCommit[] {
  const fields = output.toString('utf8').split('\0');
  const commits: LineCommit[] = [];
  for (let at = 0; at + fieldsOfCommit <= fields.length; at += fieldsOfCommit) {
    const [sha = '', parents = '', tree = '', subject = '', trailers = ''] = fields.slice(
      at,
      at + fieldsOfCommit,
    );
    commits.push({
      sha: sha.trim(),
      parents: parents.split(' ').filter((parent) => parent !== ''),
      tree,
      subject,
      trailers: trailers.split('\n').filter((line) => line !== ''),
    });
  }
  return commits;
}

/** Short results, keyed by the question. The commits between two given commits never change. */
const shortLists = new MadeOnce<RepositoryContext, Map<string, readonly LineCommit[]>>();
const shortMax = 100;

export async function lineCommits(
  context: RepositoryContext,
  from: Sha | null,
  to: Sha,
  limit: number,
  which: 'first-parent' | 'all' = 'first-parent',
): Promise<GitResult<readonly LineCommit[]>> {
  const known = shortLists.of(context, () => new Map());
  const question = `${from} ${to} ${limit} ${which}`;
  const before = known.get(question);
  if (before !== undefined) return ok(before);
  const output = await between(context, from ?? to, to, [
    'rev-list',
    ...(which === 'all' ? [] : ['--first-parent']),
    `--max-count=${Math.max(0, Math.min(commitsMax, Math.floor(limit)))}`,
    '--no-commit-header',
    '--format=%H%x00%P%x00%T%x00%s%x00%(trailers:only,unfold)%x00',
    from === null ? to : `${from}..${to}`,
  ]);
  if (!output.ok) return output;
  const commits = parseLineCommits(output.value);
  // Without `from`, the caller wants to know whether git can read the commit now.
  if (from !== null && commits.length <= shortMax) rememberBounded(known, question, commits);
  return ok(commits);
}

export async function mergeBase(
  context: RepositoryContext,
  one: Sha,
  two: Sha,
): Promise<Sha | null> {
  if (!isSha(one) || !isSha(two)) return null;
  const output = await context.git(['merge-base', one, two]);
  const sha = output.stdout.toString('utf8').split('\n', 1)[0]?.trim() ?? '';
  if (output.code === 0 && isSha(sha)) return sha;
  if (output.code === 1 && output.problem === null) return null;
  const failed = failureOf(output, `find what ${one} and ${two} share`);
  if (failed.kind === 'unknown_ref') return null;
  throw new GitRefusal(failed);
}

async function between(
  context: RepositoryContext,
  from: Sha,
  to: Sha,
  args: readonly string[],
  truncate = false,
): Promise<GitResult<Buffer>> {
  for (const sha of [from, to]) {
    if (!isSha(sha)) return refuse('unknown_ref', `"${sha}" must be a full commit id.`);
  }
  const output = await context.git(args, { truncate });
  if (output.code === 0) return ok(output.stdout);
  return err(failureOf(output, `compare ${from} with ${to}`));
}
