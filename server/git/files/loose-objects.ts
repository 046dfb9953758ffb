// Reads new commits directly from their object files: this costs a tenth of a process, and returns
// either the right answer or nothing.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateSync } from 'node:zlib';
import { factsOf } from './small-files.ts';

export interface CommitObject {
  readonly tree: string;
  readonly parents: readonly string[];
}

const maxCommitBytes = 1024 * 1024;
const maxRemembered = 10_000;

/** Where an object is until it is packed. */
export function looseFile(objectsDir: string, sha: string): string {
  return join(objectsDir, sha.slice(0, 2), sha.slice(2));
}

export function isSha(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(text);
}

/** Commits by id, and their ancestry; neither ever changes, so both are cached up to a limit. */
export class CommitObjects {
  readonly #objectsDir: string;
  readonly #known = new Map<string, CommitObject>();
  readonly #answers = new Map<string, boolean>();

  constructor(commonDir: string) {
    this.#objectsDir = join(commonDir, 'objects');
  }

  known(sha: string): CommitObject | null {
    return this.#known.get(sha) ?? null;
  }

  /** Null if the commit is packed, elsewhere or missing: then only git can tell. */
  read(sha: string): CommitObject | null {
    const known = this.#known.get(sha);
    if (known) return known;
    if (!isSha(sha)) return null;
    const commit = readLooseCommit(looseFile(this.#objectsDir, sha));
    if (commit) this.remember(sha, commit);
    return commit;
  }

  /** It is in its own file now. */
  isLoose(sha: string): boolean {
    return factsOf(looseFile(this.#objectsDir, sha)) !== null;
  }

  remember(sha: string, commit: CommitObject): void {
    rememberBounded(this.#known, sha, commit);
  }

  answer(question: string): boolean | undefined {
    return this.#answers.get(question);
  }

  rememberAnswer(question: string, answer: boolean): void {
    rememberBounded(this.#answers, question, answer);
  }
}

function rememberBounded<T>(map: Map<string, T>, key: string, value: T): void {
  if (map.size >= maxRemembered) {
    const oldest = map.keys().next().value;
    if (oldest !== undefined) map.delete(oldest);
  }
  map.set(key, value);
}

function readLooseCommit(file: string): CommitObject | null {
  try {
    const facts = factsOf(file);
    if (facts === null || facts.size > maxCommitBytes) return null;
    const bytes = inflateSync(readFileSync(file), { maxOutputLength: maxCommitBytes });
    return parseCommit(bytes.toString('latin1'));
  } catch {
    return null;
  }
}

/** Reads `commit <size>\0tree <id>\nparent <id>\n…`. */
export function parseCommit(text: string): CommitObject | null {
  if (!text.startsWith('commit ')) return null;
  const body = text.slice(text.indexOf('\0') + 1);
  const header = body.slice(0, body.indexOf('\n\n') + 1);
  const tree = /^tree ([0-9a-f]+)\n/.exec(header)?.[1];
  if (!tree) return null;
  const parents = [...header.matchAll(/^parent ([0-9a-f]+)$/gm)].map((match) => match[1] as string);
  return { tree, parents };
}
