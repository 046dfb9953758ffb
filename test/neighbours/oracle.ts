// The conditions that must hold after a schedule, whatever it contains.

import { join } from 'node:path';
import { trailerKey } from '../../server/core/work/trailers.ts';
import type { EventView, TaskView } from '../../server/protocol/api.ts';
import { removeFolder } from '../remove-folder.ts';
import { ownLines, personFacts, type PersonFacts } from './person-facts.ts';
import { movesHead } from './agent-acts.ts';
import type { Play } from './play.ts';
import type { Schedule } from './schedule.ts';
import type { Stage } from './stage.ts';
import { attemptOf, authorOf, reachableTokens, tokensIn, tokensOf, writerOf } from './tokens.ts';

/** Before the person cleans up, their whole state is as after their last action. */
export function checkThePerson(stage: Stage, left: PersonFacts): readonly string[] {
  const now = personFacts(stage);
  const isSame = (name: TextFact): boolean => {
    if (name !== 'staged' && name !== 'changed') return now[name] === left[name];
    return ownLines(now[name], left) === ownLines(left[name], left);
  };
  return (Object.keys(left) as (keyof PersonFacts)[])
    .filter((name) => name !== 'arriving')
    .filter((name) => !isSame(name))
    .map((name) => `not-ours: ${name} of the person was\n${left[name]}\nand is\n${now[name]}`);
}

type TextFact = Exclude<keyof PersonFacts, 'arriving'>;

export async function checkAtTheEnd(play: Play): Promise<readonly string[]> {
  const { stage } = play;
  const status = await play.status();
  const text = await play.events();
  const events = text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as EventView);
  return [
    ...checkReachable(stage),
    ...checkForeign(stage),
    ...checkLanded(play, status.tasks),
    ...checkTakenOut(stage),
    ...checkLandedOnce(stage),
    ...checkClone(stage),
    ...checkBlame(stage, events),
    ...checkBeginnings(play),
  ];
}

/**
 * If a run ends with 0 and completed tasks, so that everything is reported as done, then the target
 * has all of it.
 */
export async function checkWhatIsSaid(play: Play): Promise<readonly string[]> {
  const { tasks, target } = await play.status();
  const isOver = tasks.every(({ status }) => ['completed', 'cancelled'].includes(status));
  return isOver && (target?.pending ?? 0) === 0 ? checkLanded(play, tasks) : [];
}

function completedOf(tasks: readonly TaskView[]): readonly string[] {
  return tasks
    .filter((task) => task.status === 'completed' && task.parent_id === null)
    .map(({ id }) => id);
}

interface Ledger {
  readonly written: readonly string[];
  readonly removed: ReadonlySet<string>;
  /** Kept, but not part of the work. */
  readonly unseen: ReadonlySet<string>;
}

function ledgerOf(stage: Stage): Ledger {
  const lines = stage.ledger();
  const marked = (mark: string): string[] =>
    lines.filter((line) => line.startsWith(`${mark} `)).flatMap(tokensOf);
  return { written: marked('w'), removed: new Set(marked('r')), unseen: new Set(marked('u')) };
}

function checkReachable(stage: Stage): readonly string[] {
  const { written, removed } = ledgerOf(stage);
  const found = reachableTokens(stage);
  return written
    .filter((token) => !found.has(token) && !removed.has(token) && !stage.takenOut.has(token))
    .map((token) => `lost: ${token} is in no ref, stash, index or file`);
}

/**
 * A task's commits, wherever they are, add nothing that another task or a person elsewhere has
 * written.
 */
function checkForeign(stage: Stage): readonly string[] {
  const log = stage.git([
    'log',
    '--branches',
    '--diff-merges=first-parent',
    '-p',
    '-U0',
    '--no-color',
    '--no-ext-diff',
    '--format=%x01%H %(trailers:key=Drover-Task,valueonly,separator=%x2C)',
  ]);
  const bad: string[] = [];
  for (const record of (log ?? '').split('\x01')) {
    const [head = '', ...lines] = record.split('\n');
    const [sha = '', named = ''] = head.split(' ');
    const task = named.replace(/\..*$/, '');
    if (task === '') continue;
    for (const line of lines) {
      if (!line.startsWith('+') || line.startsWith('+++')) continue;
      for (const token of tokensOf(line)) {
        const author = authorOf(token);
        const holders = stage.inSlots.get(token);
        const isForeign =
          author === 'me'
            ? holders !== undefined && !holders.includes(task)
            : author !== task && author !== 'far';
        if (isForeign) bad.push(`foreign: ${token} stands in ${sha.slice(0, 10)} of ${task}`);
      }
    }
  }
  return bad;
}

/**
 * Attempts whose agent was restarted after a crash and finds half of its own operation, which it
 * handles as it can: its work is kept, but its position is its own responsibility.
 */
function juggledAttempts(stage: Stage, schedule: Schedule): ReadonlySet<string> {
  const starts = new Map<string, number>();
  for (const line of stage.ledger()) {
    const [mark, id = '', attempt = ''] = line.split(' ');
    const key = `${id} ${attempt}`;
    if (mark === 's') starts.set(key, (starts.get(key) ?? 0) + 1);
  }
  const juggled = schedule.agents
    .filter(({ act }) => movesHead.has(act))
    .map(({ task, attempt }) => `${task} ${attempt}`)
    .filter((key) => (starts.get(key) ?? 0) > 1);
  return new Set(juggled.map((key) => key.replace(/\.\d+ /, ' ')));
}

/**
 * For completed tasks, everything that the landed attempt wrote is on the target, except work of
 * parts that the person canceled, which is only kept.
 */
function checkLanded(play: Play, tasks: readonly TaskView[]): readonly string[] {
  const { stage } = play;
  const { written, removed, unseen } = ledgerOf(stage);
  const tip = new Set(tokensIn(stage, 'refs/heads/main'));
  const log = stage.git([
    'log',
    'refs/heads/main',
    '--reverse',
    '--format=%(trailers:key=Drover-Task,valueonly,separator=%x2C) %(trailers:key=Drover-Attempt,valueonly,separator=%x2C)',
  ]);
  const attempts = new Map<string, number>();
  for (const line of (log ?? '').split('\n')) {
    const [task = '', attempt = ''] = line.split(' ');
    if (attempt !== '') attempts.set(task, Number(attempt));
  }
  const juggled = juggledAttempts(stage, play.schedule);
  const cancelled = new Set(
    tasks.filter(({ status }) => status === 'cancelled').map(({ id }) => id),
  );
  const bad: string[] = [];
  for (const id of completedOf(tasks)) {
    const own = written.filter((token) => authorOf(token) === id);
    if (own.some((token) => stage.takenOut.has(token))) continue; // people have taken its landing back
    // A person who rewrites a line may leave no commit with the task's name; then the content
    // decides.
    const there = own.filter((token) => tip.has(token)).map(attemptOf);
    const landed = attempts.get(id) ?? Math.max(0, ...there);
    if (landed === 0 && own.length > 0)
      bad.push(`not-landed: ${id} is completed, and main has nothing of it`);
    for (const token of own) {
      if (attemptOf(token) !== landed || tip.has(token)) continue;
      if (juggled.has(`${id} ${landed}`) || cancelled.has(writerOf(token))) continue;
      if (removed.has(token) || unseen.has(token) || stage.takenOut.has(token)) continue;
      bad.push(`not-landed: ${token} of completed ${id} is not on main`);
    }
  }
  return bad;
}

/** Commits that a person removed from their line do not come back on it. */
function checkTakenOut(stage: Stage): readonly string[] {
  return tokensIn(stage, 'refs/heads/main')
    .filter((token) => stage.takenOut.has(token) && authorOf(token) === 'me')
    .map((token) => `came-back: ${token} was taken out by the person and is on main`);
}

/** Work that an epic landed without its history does not land again as an empty commit. */
function checkLandedOnce(stage: Stage): readonly string[] {
  const key = trailerKey('tip');
  const format = `%H %T %P %(trailers:key=${key},valueonly,separator=%x2C)`;
  const log = stage.git(['log', 'refs/heads/main', '--reverse', `--format=${format}`]) ?? '';
  const trees = new Map<string, string>();
  const landed: string[] = [];
  const bad: string[] = [];
  for (const line of log.split('\n')) {
    const [sha = '', tree = '', ...others] = line.split(' ');
    trees.set(sha, tree);
    const [parent, tip] = others;
    // A commit with more parents has landed with its history.
    if (parent === undefined || tip === undefined || tip === '' || others.length !== 2) continue;
    const isIn = (held: string): boolean =>
      stage.git(['merge-base', '--is-ancestor', tip, held]) !== null;
    if (trees.get(parent) === tree && landed.some(isIn))
      bad.push(`again: ${sha.slice(0, 10)} lands ${tip.slice(0, 10)} once more`);
    landed.push(tip);
  }
  return bad;
}

function checkClone(stage: Stage): readonly string[] {
  const path = join(stage.folder, 'clone');
  stage.git(['clone', '-q', '--branch', 'main', stage.root, path]);
  const code = stage.project.sh(path, 'sh gate.sh');
  removeFolder(path);
  return code === 0 ? [] : [`red: a clean clone of main does not pass the gate (${code})`];
}

/** Kinds that no task causes, or that an agent reported about itself. */
function checkBlame(stage: Stage, events: readonly EventView[]): readonly string[] {
  const faults = new Set(
    stage
      .ledger()
      .filter((line) => line.startsWith('f '))
      .map((line) => line.split(' ').slice(1, 3).join(' ')),
  );
  const used = new Map<string, number>();
  const bad: string[] = [];
  for (const { type, task_id: task, data } of events) {
    if (task === null || !['task.retry', 'task.failed', 'task.conflict'].includes(type)) continue;
    const { attempts, attempt, kind, error } = data as {
      attempts?: number;
      attempt?: number;
      kind?: string;
      error?: string;
    };
    const before = used.get(task) ?? 0;
    used.set(task, attempts ?? before);
    if (attempts === undefined || attempts <= before || kind === 'conflict') continue;
    const isOwn = [...faults].some(
      (fault) => fault.replace(/\.\d+ /, ' ') === `${task} ${attempt}`,
    );
    if (!isOwn) bad.push(`blamed: ${task} has used attempt ${attempt} for ${kind}: ${error}`);
  }
  return bad;
}

/** An agent found its folder exactly at its base. */
function checkBeginnings({ stage, schedule }: Play): readonly string[] {
  const parents = new Set(schedule.tasks.map(({ parent_id: parent }) => parent));
  // The next part finds the previous part's files.
  const whole = (id: string): boolean => !id.includes('.') && !parents.has(id);
  return stage
    .ledger()
    .filter((line) => whole(line.split(' ')[1] ?? ''))
    .filter((line) => /^d \S+ 1 /.test(line) && !/^d \S+ 1 ([?AM ]+ me-\d\.txt )+$/.test(line))
    .map((line) => `unclean: at the beginning of its first attempt there was: ${line.slice(2)}`);
}
