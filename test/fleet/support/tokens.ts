// Agents that continuously write tokens, each in a different way, and the places of the tokens
// after their machine has disappeared.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { tokensOf } from '../../neighbours/tokens.ts';
import type { Fleet } from './fleet.ts';

/** The first six tasks in turn; a further attempt adds a line to the existing ones, and ends. */
export const tokenHabits = [
  'leaves all of it uncommitted',
  'commits each of them',
  'commits for a while, and then waits',
  'only stages them',
  'commits on a branch of its own',
  'puts them aside as a stash, and then waits',
] as const;

const sleepMs = 150;

/**
 * Every token is in the list of tokens beside the ledger, with its task and its time in
 * nanoseconds.
 */
export const tokenAgent = `
cat > /dev/null
folder=$(dirname "$ledger")
i=0
put() {
  i=$((i+1))
  echo "tok:$id:$attempt:$$:$i;" >> "$id-notes.txt"
  echo "$machine $id $(date +%s%N) tok:$id:$attempt:$$:$i;" >> "$folder/tokens"
}
habit=$((\${id#F-} % ${tokenHabits.length}))
[ "$attempt" = 1 ] || { put; echo "work of $id" > "$id.txt"; echo "$id $attempt $machine" >> "$ledger"; exit 0; }
[ $habit != 4 ] || git switch -q -c "own-$id"
echo "$machine $id" >> "$folder/begun"
while [ ! -e "$folder/finish" ]; do
  case $habit in
    0) put ;;
    1 | 4) put; git add -A; git commit -qm "the agent's own commit for $id" ;;
    2) [ $i -ge 20 ] || { put; git add -A; git commit -qm "the agent's own commit for $id"; } ;;
    3) put; git add -A ;;
    5) [ $i -ge 5 ] || { put; [ $i -lt 5 ] || git stash -q --include-untracked; } ;;
  esac
  sleep 0.${sleepMs}
done
echo "work of $id" > "$id.txt"
echo "$id $attempt $machine" >> "$ledger"
`;

export interface WrittenToken {
  readonly token: string;
  readonly task: string;
  readonly atMs: number;
}

export function writtenOn(fleet: Fleet, machine: string): readonly WrittenToken[] {
  return linesOf(fleet, 'tokens').flatMap((line) => {
    const [where, task = '', nanoseconds = '', token = ''] = line.split(' ');
    const atMs = Number(nanoseconds) / 1e6;
    return where === machine && token.endsWith(';') ? [{ token, task, atMs }] : [];
  });
}

/** Tasks whose agents have started on a machine. */
export function begunOn(fleet: Fleet, machine: string): readonly string[] {
  return linesOf(fleet, 'begun').flatMap((line) => {
    const [where, task = ''] = line.split(' ');
    return where === machine ? [task] : [];
  });
}

function linesOf(fleet: Fleet, name: string): readonly string[] {
  const path = join(fleet.folder, name);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n') : [];
}

/** In any object that is reachable from a ref of the remote. */
export function tokensOnRemote(fleet: Fleet): ReadonlySet<string> {
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: fleet.folder };
  const options = { cwd: fleet.gitServer.bare, env, maxBuffer: 256 * 1024 * 1024 };
  const list = execFileSync(
    'git',
    ['rev-list', '--objects', '--no-object-names', '--all'],
    options,
  );
  const read = execFileSync('git', ['cat-file', '--batch', '--buffer'], {
    ...options,
    input: list,
  });
  return new Set(tokensOf(read.toString('latin1')));
}

/** The age in milliseconds of the oldest lost token. Returns null if none is lost. */
export function oldestLostMs(
  written: readonly WrittenToken[],
  found: ReadonlySet<string>,
  goneAtMs: number,
): number | null {
  const lost = written.filter(({ token }) => !found.has(token)).map(({ atMs }) => goneAtMs - atMs);
  return lost.length === 0 ? null : Math.max(...lost);
}

/** A further attempt has continued from everything that was kept: its notes contain it. */
export function assertGoneOn(fleet: Fleet, kept: readonly WrittenToken[]): void {
  const landed = new Map<string, string>();
  const lacks = kept.filter(({ task, token }) => {
    const notes = landed.get(task) ?? fleet.gitServer.git('show', `main:${task}-notes.txt`);
    landed.set(task, notes);
    return !notes.includes(token);
  });
  assert.deepEqual(lacks, [], 'the next attempt has what was kept of the one before');
}
