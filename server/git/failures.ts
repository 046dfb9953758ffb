// Converts git's output to a failure: a kind, whether a retry may work, and a sentence that names
// the cause.

import { isSha, type Sha } from './sha.ts';
import { err, ok } from '../core/failure.ts';
import type { GitFailure, GitResult } from './port.ts';
import type { GitOutput } from './git-command.ts';

const retryableKinds: ReadonlySet<GitFailure['kind']> = new Set(['locked', 'stale', 'disk_full']);

export function gitFailure(
  kind: GitFailure['kind'],
  message: string,
  retryable?: boolean,
): GitFailure {
  return { kind, message, retryable: retryable ?? retryableKinds.has(kind) };
}

export function refuse<T>(kind: GitFailure['kind'], message: string): GitResult<T> {
  return err(gitFailure(kind, message));
}

/** Git only warns about such folders, and omits them from its lists and commits. */
export function cannotRead(worktree: string, folders: readonly string[]): GitFailure {
  const names = folders.slice(0, 5).join(', ');
  const message = `Git cannot read ${names} in ${worktree} (permission denied), so its files are in no commit. Make it readable with "chmod -R u+rwX", or ignore it.`;
  return gitFailure('failed', message);
}

/** The lock file in the way; null if the failure has another cause. */
export function parseLockFile(stderr: string): string | null {
  const created = /Unable to create '([^\n]+?\.lock)': File exists/i.exec(stderr);
  if (created?.[1]) return created[1];
  const configured = /could not lock config file ([^\n]+?): File exists/i.exec(stderr);
  if (configured?.[1]) return `${configured[1]}.lock`;
  return null;
}

/** Failures that another git process in the same repository can cause, so that a retry works. */
export function isPassingRace(stderr: string): boolean {
  return /failed to read [^\n]*commondir|could not (?:open|read) [^\n]*\/worktrees\/[^\n]*: No such file/i.test(
    stderr,
  );
}

/** True if a compare-and-swap found an unexpected value. */
export function isStale(stderr: string): boolean {
  return /but expected [0-9a-f]{40}|reference already exists|unable to resolve reference|reference is missing/i.test(
    stderr,
  );
}

/** True if git was given a commit that the repository does not have. */
function namesUnknownCommit(stderr: string): boolean {
  return /not a valid branch point|invalid reference|reference is not a tree|not a valid (?:object|commit) name|not something we can merge|bad object|unknown revision|nonexistent object/i.test(
    stderr,
  );
}

/** True if contents are missing that only a filter's program or another repository can provide. */
function lacksContents(stderr: string): boolean {
  return /smudge filter \S+ failed|external filter '.*' failed|could not fetch \S+ from promisor remote/i.test(
    stderr,
  );
}

/** The failure for a key that controls which address git connects to. */
export const changedWords = "was changed in git's configuration after Drover had started";

/** Git reports this only in words, without an error code. */
function tellsFullDisk(stderr: string): boolean {
  return /no space left on device|disk quota exceeded|not enough space|disk is full/iu.test(stderr);
}

/** `doing` completes "Git could not …". */
export function failureOf(output: GitOutput, doing: string): GitFailure {
  switch (output.problem) {
    case 'missing':
      return gitFailure(
        'failed',
        `Git could not be started (${output.stderr.trim()}): install git 2.38 or newer and put it on PATH.`,
      );
    case 'timeout':
      return gitFailure(
        'failed',
        `Git could not ${doing}: it took too long and was stopped.`,
        true,
      );
    case 'aborted':
      return gitFailure('failed', `Git did not ${doing}: it was canceled.`, true);
    case 'too_much_output':
      return gitFailure('failed', `Git could not ${doing}: its output is too long to read.`);
    case null:
      return failureOfText(output, doing);
  }
}

function failureOfText(output: GitOutput, doing: string): GitFailure {
  const lock = parseLockFile(output.stderr);
  if (lock !== null) {
    return gitFailure(
      'locked',
      `Git could not ${doing}: another process holds ${lock}. If no git process is running, remove that file.`,
    );
  }
  if (tellsFullDisk(output.stderr)) {
    return gitFailure('disk_full', `Git could not ${doing}: the disk is full.`);
  }
  if (lacksContents(output.stderr)) {
    return gitFailure(
      'unfilled',
      `Git could not ${doing}: ${lastWords(output.stderr)}. Install the program of that filter, or make the remote reachable.`,
    );
  }
  if (isStale(output.stderr)) {
    return gitFailure('stale', `Git could not ${doing}: ${lastWords(output.stderr)}`);
  }
  if (namesUnknownCommit(output.stderr)) {
    return gitFailure('unknown_ref', `Git could not ${doing}: ${lastWords(output.stderr)}`);
  }
  const said = lastWords(output.stderr) || lastWords(output.stdout.toString('utf8'));
  return gitFailure(
    'failed',
    `Git could not ${doing} (exit ${output.code}): ${said || 'it gave no reason'}`,
  );
}

/** Joins the lines with the reason into one line of limited length. */
function lastWords(text: string): string {
  const lines = text
    // Git lists the affected names indented below the reason.
    .replaceAll(/:\n\t/g, ': ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('hint:'));
  // Git lists rejected names of extensions and files below its sentence.
  const reasons = lines.filter(
    (line, at) =>
      /^(?:fatal|error):/.test(line) || /^(?:fatal|error):.*:$/.test(lines[at - 1] ?? ''),
  );
  return (reasons.length > 0 ? reasons : lines.slice(-6)).join(' ').slice(0, 600);
}

/** The id that git printed, or why it printed none. `doing` completes "Git could not …". */
export function printedId(output: GitOutput, doing: string): GitResult<Sha> {
  const id = output.stdout.toString('latin1').trim();
  return output.code === 0 && isSha(id) ? ok(id) : err(failureOf(output, doing));
}
