// Parses git's output about a remote: the effect of a push on each ref, and why the remote could
// not be reached.

import { headRoot } from '../../core/work/ref-names.ts';
import { changedWords, failureOf, gitFailure } from '../failures.ts';
import type { GitFailure } from '../port.ts';
import type { GitOutput } from '../git-command.ts';

const maxWords = 600;

/** Removes names and passwords from URLs, and everything after a question mark in them. */
export function withoutCredentials(text: string): string {
  return text
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/)[^\s'"]*@/giu, '$1')
    .replace(/[^\s/@:'"]+:[^\s@'"]+@/gu, '')
    .replace(/\b([a-z][a-z0-9+.-]*:\/\/[^\s'"?]*)\?[^\s'"]*/giu, '$1');
}

export interface PushRefusal {
  readonly ref: string;
  /** The client found a value other than the expected one. */
  readonly isStale: boolean;
  readonly reason: string;
}

/**
 * Parses lines `!<tab>from:to<tab>[rejected] (reason)` of `push --porcelain`. Omits refs that
 * failed only because of others.
 */
export function parseRefusals(output: GitOutput): readonly PushRefusal[] {
  const found: PushRefusal[] = [];
  for (const line of output.stdout.toString('utf8').split('\n')) {
    const [, ref = '', reason = ''] =
      /^!\t[^\t]*:([^\t:]+)\t\[(?:remote )?rejected\] \((.*)\)$/u.exec(line) ?? [];
    if (ref === '' || /atomic (?:transaction|push) (?:failed|failure)/iu.test(reason)) continue;
    found.push({ ref, isStale: reason === 'stale info', reason });
  }
  return found;
}

/** Another process is moving the ref on the server, so the next request shows the result. */
export function isPassingRefusal({ reason }: PushRefusal): boolean {
  return /failed to (?:update|lock) ref|cannot lock ref|incorrect old value|already exists|unable to create|fetch first/iu.test(
    reason,
  );
}

/** The output of the server's own programs as one line. */
function serverWords(stderr: string): string {
  const lines = stderr
    .split('\n')
    .filter((line) => /^remote: ?/u.test(line))
    .map((line) => line.replace(/^remote: ?/u, '').trim());
  return lines.filter((line) => line !== '').join(' ');
}

const unreadable =
  /does not appear to be a git repository|repository .{0,200}(?:not found|does not exist)|no such remote|no such file or directory|not exported/iu;
const forbidden =
  /authentication failed|could not read (?:username|password)|prompts disabled|permission (?:to .{0,200} )?denied|host key verification failed|error: 40[13]\b|access denied|service not enabled|not allowed|marked as read.only|read-only|permission denied \(/iu;
const untrusted = /certificate|self.signed|unable to get local issuer/iu;

/** Problems between this machine and the remote. `doing` completes "Git could not …". */
export function remoteFailure(output: GitOutput, remote: string, doing: string): GitFailure {
  const plain = failureOf(output, doing);
  if (output.problem === 'timeout') {
    return {
      ...plain,
      message: `${plain.message} The remote ${remote} may be unreachable.`,
      isAway: true,
    };
  }
  if (output.problem !== null || plain.kind === 'locked' || plain.kind === 'disk_full') {
    return { ...plain, message: withoutCredentials(plain.message) };
  }
  const text = output.stderr;
  if (text.includes(changedWords)) {
    // Treated like an unreachable remote: work waits until a person decides.
    const message = withoutCredentials(text.replace(/^fatal: /u, '')).slice(0, maxWords);
    return { ...gitFailure('failed', message, true), isAway: true };
  }
  if (/not our ref|unadvertised object|couldn't find remote ref/iu.test(text)) {
    const message = `The remote ${remote} does not have what was asked for (${remoteReason(text)}).`;
    return gitFailure('unknown_ref', message);
  }
  const say = (what: string, remedy: string, retryable: boolean): GitFailure =>
    gitFailure('failed', `${what} (${remoteReason(text)})${remedy}`, retryable);
  if (/--atomic|does not support atomic/iu.test(text) && /support/iu.test(text)) {
    return say(
      `The server of ${remote} cannot update several refs at once`,
      ': use a git server that supports atomic pushes.',
      false,
    );
  }
  if (forbidden.test(text)) {
    return say(
      `The remote ${remote} denied access to this machine`,
      `: check with "git push --dry-run ${remote}" that git needs no password here and may push.`,
      false,
    );
  }
  if (untrusted.test(text)) {
    return say(
      `The certificate of the remote ${remote} cannot be checked`,
      ': add the certificate of its authority with "git config http.sslCAInfo <file>".',
      false,
    );
  }
  if (unreadable.test(text)) {
    return say(
      `The remote ${remote} has no repository`,
      `: correct its address with "git remote set-url ${remote} …".`,
      false,
    );
  }
  return {
    ...say(`Git could not ${doing}: the remote ${remote} is unreachable`, '.', true),
    isAway: true,
  };
}

/** The server refused the push. */
export function refusedFailure(
  refusal: PushRefusal,
  output: GitOutput,
  remote: string,
): GitFailure {
  const words = serverWords(output.stderr);
  const said = withoutCredentials(words === '' ? '' : `, saying: ${words}`).slice(0, maxWords);
  const pushes = 'let the account that Drover pushes with';
  const isBranch = refusal.ref.startsWith(headRoot);
  // Every allowed prefix of Drover's branches contains this word.
  const isOurs = isBranch && refusal.ref.includes('drover');
  const others = isOurs ? ', or give its branches other names ([fleet] branch_prefix)' : '';
  const remedy = isBranch ? `${pushes} move this branch${others}` : `${pushes} write refs/drover/*`;
  return gitFailure(
    'refused',
    `The remote ${remote} refused ${refusal.ref} (${withoutCredentials(refusal.reason)})${said}. Remedy: ${remedy}, or see what its hook asks for.`,
    false,
  );
}

/** Lines of git and ssh that explain why access was denied. */
const told =
  /^(?:fatal|error|remote|ssh|kex)[^:]{0,40}:|errno=|permission denied \(|host key verification failed|load key |too many authentication failures/iu;

/** Joins the lines with the reason into one line, without git's usual advice. */
export function remoteReason(stderr: string): string {
  const lines = stderr
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => told.test(line))
    .filter((line) => !/failed to push some refs|^remote:$/u.test(line));
  const text = lines.length > 0 ? lines.join(' ') : stderr.trim().replace(/\s+/gu, ' ');
  return withoutCredentials(text).slice(0, maxWords) || 'it gave no reason';
}
