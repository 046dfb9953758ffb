// Changes of one file by Drover's commits, needed if a settings file differs from the accepted one.

import { trailerKey, type TrailerKind } from '../core/work/trailers.ts';
import { gitEnvironment, shortened } from '../git/process/environment.ts';
import { openGitProcesses, type GitProcesses } from '../git/process/process.ts';
import { programOnPath } from '../files/program-path.ts';

export interface LandedChange {
  /** The task or epic whose landing it was. */
  readonly by: string;
  /** Null if the file did not exist. */
  readonly before: string | null;
  readonly after: string | null;
}

/** If more landings changed the file, they are not checked and it counts as changed by a person. */
const changesMax = 100;
const fileBytesMax = 1024 * 1024;
const valuesOf = (kind: TrailerKind): string =>
  `%(trailers:key=${trailerKey(kind)},valueonly,separator=%x20)`;
const format = `%x01${valuesOf('task')}%x02${valuesOf('epic')}`;
const noBlob = /^0+$/;

/**
 * The landings between `since` (null = the first commit) and HEAD that changed the file. Null if
 * git cannot tell.
 */
export async function landedChanges(
  root: string,
  path: string,
  since: string | null,
): Promise<readonly LandedChange[] | null> {
  const { run } = processesHere();
  const ask = async (range: string): Promise<string | null> => {
    const args = ['log', `-n${changesMax}`, '--full-history', '--diff-merges=first-parent'];
    const output = await run({
      args: [
        ...args,
        '--raw',
        '--no-abbrev',
        '--no-renames',
        `--format=${format}`,
        range,
        '--',
        path,
      ],
      cwd: root,
    });
    return output.code === 0 ? output.stdout.toString('utf8') : null;
  };
  // A commit that no longer exists cannot be the start.
  const text = (since === null ? null : await ask(`${since}..HEAD`)) ?? (await ask('HEAD'));
  if (text === null) return null;
  const changes: LandedChange[] = [];
  for (const part of text.split('\u0001').slice(1)) {
    const [trailers = '', raw = ''] = part.split(/\n\n?(?=:)/, 2);
    const by = trailers.split('\u0002').join(' ').trim();
    const blobs = /^:\d+ \d+ ([\da-f]+) ([\da-f]+) /.exec(raw);
    if (by === '' || blobs === null) continue;
    const [before, after] = await Promise.all(
      [blobs[1] ?? '', blobs[2] ?? ''].map(async (blob) => readBlob(run, root, blob)),
    );
    changes.push({ by, before: before ?? null, after: after ?? null });
  }
  return changes;
}

/** The commit that is checked out; null if none. */
export async function readHead(root: string): Promise<string | null> {
  const output = await processesHere().run({ args: ['rev-parse', '--verify', 'HEAD'], cwd: root });
  return output.code === 0 ? output.stdout.toString('utf8').trim() : null;
}

function processesHere(): GitProcesses {
  return openGitProcesses({
    binary: programOnPath('git', process.env),
    environment: gitEnvironment(shortened(process.env)),
    concurrency: 2,
    maxOutputBytes: 2 * fileBytesMax,
    timeoutMs: 20_000,
  });
}

async function readBlob(
  run: GitProcesses['run'],
  root: string,
  blob: string,
): Promise<string | null> {
  if (noBlob.test(blob)) return null;
  const output = await run({ args: ['cat-file', 'blob', blob], cwd: root });
  return output.code === 0 ? output.stdout.toString('utf8') : null;
}
