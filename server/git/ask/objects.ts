// Reads objects of the repository through one persistent git process. Commits never change, so they
// and their ancestry are cached up to a limit.

import type { CommitObject, GitObject, KnownObjects } from '../context.ts';
import { err, ok, type Result } from '../../core/failure.ts';
import type { Conversation } from '../git-command.ts';
import type { GitOutput } from '../git-command.ts';
import { isSha, type Sha } from '../sha.ts';

const maxRemembered = 10_000;

export class GitObjects implements KnownObjects {
  readonly #git: Conversation;
  readonly #commits = new Map<Sha, CommitObject>();
  readonly #answers = new Map<string, boolean>();

  /** `git`: a `cat-file --batch-command` process. */
  constructor(git: Conversation) {
    this.#git = git;
  }

  /** Returns null if the repository does not have the object. */
  async read(sha: Sha): Promise<Result<GitObject | null, GitOutput>> {
    const answer = await this.#git.ask({ input: `contents ${sha}\n`, read: parseAnswer });
    return answer.ok ? ok(answer.value === 'missing' ? null : answer.value) : err(answer.error);
  }

  known(sha: Sha): CommitObject | null {
    return this.#commits.get(sha) ?? null;
  }

  /** Returns null if the commit does not exist or git could not answer. */
  async commit(sha: Sha): Promise<CommitObject | null> {
    const known = this.known(sha);
    if (known !== null || !isSha(sha)) return known;
    const found = await this.read(sha);
    if (!found.ok || found.value?.kind !== 'commit') return null;
    const commit = parseCommit(found.value.content.toString('latin1'));
    if (commit !== null) this.remember(sha, commit);
    return commit;
  }

  remember(sha: Sha, commit: CommitObject): void {
    rememberBounded(this.#commits, sha, commit);
  }

  answer(question: string): boolean | undefined {
    return this.#answers.get(question);
  }

  rememberAnswer(question: string, answer: boolean): void {
    rememberBounded(this.#answers, question, answer);
  }
}

/** Parses `<id> <kind> <size>\n<content>\n`. Returns null while a part is missing. */
function parseAnswer(output: Buffer): GitObject | 'missing' | null {
  const end = output.indexOf(0x0a);
  if (end < 0) return null;
  const [, kind = '', size] = output.toString('latin1', 0, end).split(' ');
  if (size === undefined) return 'missing';
  const start = end + 1;
  const contentEnd = start + Number(size);
  return output.length <= contentEnd ? null : { kind, content: output.subarray(start, contentEnd) };
}

export function rememberBounded<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= maxRemembered) {
    const oldest = map.keys().next().value;
    if (oldest !== undefined) map.delete(oldest);
  }
  map.set(key, value);
}

/** Parses `tree <id>\nparent <id>\n…`. */
export function parseCommit(text: string): CommitObject | null {
  const header = text.slice(0, text.indexOf('\n\n') + 1);
  const tree = /^tree ([0-9a-f]+)\n/.exec(header)?.[1];
  if (tree === undefined) return null;
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1] as string);
  return { tree, parents };
}
