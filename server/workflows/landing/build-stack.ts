// Builds the commits of a stack's levels. Each level adds the changes of its own commits to the
// level below, and each tree must pass the gate, like the trees of the epic's line.

import { err, failure, type Failure, ok, type Result } from '../../core/failure.ts';
import {
  type LineStep,
  planLevels,
  type PushedLevel,
  type StackLevel,
  type StackPlan,
  stepRuns,
} from '../../core/forge/stack.ts';
import { forgeBranch, type PullShape } from '../../core/forge/pull-plan.ts';
import { rescueRef } from '../../core/work/ref-names.ts';
import { trailerValue } from '../../core/work/trailers.ts';
import type { GitResult } from '../../git/port.ts';
import type { Sha } from '../../git/sha.ts';
import { fixesOfPulls, readRootTasks, stackLevels } from '../../store/port.ts';
import type { Uses } from '../kit/engine-ports.ts';
import { gitFailed } from '../kit/git-trouble.ts';

export interface BuiltLevel {
  readonly position: number;
  readonly branch: string;
  readonly tasks: readonly string[];
  readonly commits: readonly Sha[];
  readonly pushed: PushedLevel | null;
  readonly head: Sha;
  readonly tree: Sha;
  /** The head of the level below, or the base. */
  readonly below: Sha;
  /** True if the level's own changes differ from those that were pushed. */
  readonly isChanged: boolean;
}

export interface StackQuestion {
  readonly epicId: string;
  /** The tip of the epic's line. */
  readonly tip: Sha;
  /** The newest commit of the branch that the stack is merged into. */
  readonly base: Sha;
  readonly baseName: string;
  /** Runs the gate on each level except the last one, which the landing itself tests. */
  readonly test: (commit: Sha, tree: Sha) => Promise<Failure | null>;
}

type Building = Uses<'git' | 'store'>;

/** An epic keeps the shape of its open pull requests, whatever the settings say since. */
export async function chooseShape(
  { store: { db } }: Uses<'store'>,
  epicId: string,
  wanted: PullShape,
): Promise<PullShape> {
  const { levels, pulls } = await stackLevels(db, epicId);
  if (levels.some(({ state }) => state === 'open' || state === 'opening')) return 'stack';
  return pulls.get(forgeBranch(epicId))?.state === 'open' ? 'epic' : wanted;
}

/** Most commits of an epic's line that become a stack. */
const stepsMax = 100;

export async function buildStack(
  engine: Building,
  question: StackQuestion,
): Promise<Result<readonly BuiltLevel[]>> {
  const { epicId } = question;
  const { db } = engine.store;
  const steps = await lineSteps(engine, question);
  if (!steps.ok) return steps;
  const { levels, nextPosition } = await stackLevels(db, epicId);
  const onTop = new Set<Sha>();
  const joined = new Set<Sha>();
  const titles = new Map((await readRootTasks(db, epicId)).map(({ id, title }) => [id, title]));
  const fixes = await fixesOfPulls(db, epicId);
  const given = { epicId, steps: steps.value, levels, titles, fixes, nextPosition };
  // The loop ends because each further try adds a commit to one of the two sets.
  for (;;) {
    const plan: StackPlan = { ...given, onTop, joined };
    const wanted = planLevels(plan);
    const built = await stackUp(engine, question, wanted);
    if (built.kind === 'built') return ok(built.levels);
    if (built.kind === 'problem') return err(built.failure);
    if (!tryOtherwise(wanted, built.index, { onTop, joined })) return err(built.failure);
  }
}

/** Changes the plan after a failure. Returns false if the levels cannot be built in another way. */
function tryOtherwise(
  levels: readonly StackLevel[],
  index: number,
  { onTop, joined }: { readonly onTop: Set<Sha>; readonly joined: Set<Sha> },
): boolean {
  const added = levels.slice(0, index + 1).flatMap((level) => addedSteps(level));
  for (const { sha } of added) onTop.add(sha);
  if (added.length > 0) return true;
  const level = levels[index];
  const last = level?.steps.at(-1);
  if (level?.pushed !== null || last === undefined || index === levels.length - 1) return false;
  joined.add(last.sha);
  return true;
}

function addedSteps({ steps, pushed }: StackLevel): readonly LineStep[] {
  return pushed === null ? [] : steps.filter(({ sha }) => !pushed.commits.includes(sha));
}

async function lineSteps(
  engine: Building,
  { epicId, base, tip, baseName }: StackQuestion,
): Promise<Result<readonly LineStep[]>> {
  const listed = await engine.git.lineCommits(base, tip, stepsMax + 1);
  if (!listed.ok) return err(gitFailed(listed.error));
  if (listed.value.length > stepsMax) {
    const why = `${epicId} has more than ${stepsMax} commits that ${baseName} does not have, which is too much for a stack; set [forge] shape = "epic"`;
    return err(failure('conflict', why));
  }
  const own = new Set((await readRootTasks(engine.store.db, epicId)).map(({ id }) => id));
  const steps = listed.value.map(({ sha, parents, subject, trailers }): LineStep => {
    const named = trailers.map((line) => trailerValue('task', line));
    const task = named.find((id) => id !== null && own.has(id)) ?? null;
    return { sha, parent: parents[0] ?? sha, task, subject, trailers };
  });
  return ok(steps.toReversed());
}

type Tried =
  | { readonly kind: 'built'; readonly levels: readonly BuiltLevel[] }
  | { readonly kind: 'not_alone'; readonly index: number; readonly failure: Failure }
  | { readonly kind: 'problem'; readonly failure: Failure };

async function stackUp(
  engine: Building,
  question: StackQuestion,
  levels: readonly StackLevel[],
): Promise<Tried> {
  const built: BuiltLevel[] = [];
  let below = question.base;
  for (const [index, level] of levels.entries()) {
    const made = await makeLevel(engine, question, level, below);
    if (!made.ok) return { kind: 'problem', failure: made.error };
    if ('files' in made.value) {
      const failure = conflictOf(question, level, made.value.files);
      return { kind: 'not_alone', index, failure };
    }
    const { head, tree } = made.value;
    const red = index === levels.length - 1 ? null : await question.test(head, tree);
    if (red !== null) {
      const message = `${level.branch} of epic ${question.epicId}: ${red.message}`;
      return { kind: 'not_alone', index, failure: { ...red, message } };
    }
    const kept = await engine.git.updateRef(
      rescueRef(level.branch, head),
      head,
      null,
      'drover: stack',
    );
    if (!kept.ok) return { kind: 'problem', failure: gitFailed(kept.error) };
    built.push(made.value);
    below = head;
  }
  return { kind: 'built', levels: built };
}

function conflictOf(
  { epicId, baseName }: StackQuestion,
  { branch }: StackLevel,
  files: readonly string[],
): Failure {
  const where = files.join(', ');
  const remedy = `merge ${baseName} into it by hand, push it, and merge its pull request`;
  return failure('conflict', `${branch} of epic ${epicId} conflicts in ${where}; ${remedy}`);
}

async function makeLevel(
  engine: Building,
  { base, baseName }: StackQuestion,
  level: StackLevel,
  below: Sha,
): Promise<Result<BuiltLevel | { readonly files: readonly string[] }>> {
  const { git } = engine;
  const { position, branch, tasks, steps, pushed } = level;
  let top: { readonly commit: Sha; readonly tree: Sha } | null = null;
  for (const run of stepRuns(steps)) {
    const [first] = run;
    const last = run.at(-1);
    if (first === undefined || last === undefined) continue;
    const { sha: commit, subject, trailers } = last;
    const tip = top?.commit ?? below;
    const merged = await git.merge({ tip, commit, base: first.parent, subject, trailers });
    if (!merged.ok) return err(gitFailed(merged.error));
    if (merged.value.kind === 'conflict') return ok({ files: merged.value.files });
    top = merged.value;
  }
  const commits = steps.map(({ sha }) => sha);
  const isChanged = pushed === null || addedSteps(level).length > 0;
  const common = { position, branch, tasks, commits, pushed, below, isChanged };
  const [head, tree] = top === null ? [below, null] : [top.commit, top.tree];
  const last = isChanged ? steps.at(-1) : undefined;
  const onto = { below, baseName, isBottom: below === base, last };
  const moved = pushed === null ? ok(head) : await moveHead(git, pushed.head, head, onto);
  if (!moved.ok) return err(gitFailed(moved.error));
  const own = tree === null ? await git.treeOf(moved.value) : ok(tree);
  return own.ok ? ok({ ...common, head: moved.value, tree: own.value }) : err(gitFailed(own.error));
}

interface Onto {
  readonly below: Sha;
  readonly baseName: string;
  readonly isBottom: boolean;
  /** The newest commit that the level did not contain. */
  readonly last: LineStep | undefined;
}

/**
 * Moves a pushed head forward, never back: to the tree of `wanted`, on top of what is below now.
 */
async function moveHead(
  git: Building['git'],
  pushed: Sha,
  wanted: Sha,
  { below, baseName, isBottom, last }: Onto,
): Promise<GitResult<Sha>> {
  const [before, after] = [await git.treeOf(pushed), await git.treeOf(wanted)];
  if (!before.ok) return before;
  if (!after.ok) return after;
  const isSame = before.value === after.value;
  const holdsBelow = await git.isAncestor(below, pushed);
  // The bottom level must contain the latest base, so that the forge starts the checks that it only
  // runs for that base.
  const isGood = holdsBelow || (!isBottom && (await isDifferenceShown(git, pushed, below)));
  if (isSame && isGood) return ok(pushed);
  const parents = holdsBelow ? [pushed] : [pushed, below];
  const subject = last?.subject ?? `drover: continue on ${baseName}`;
  const trailers = last?.trailers ?? [];
  const request = { tip: pushed, commit: wanted, base: pushed, parents, subject, trailers };
  const merged = await git.merge(request);
  if (!merged.ok) return merged;
  return ok(merged.value.kind === 'merged' ? merged.value.commit : pushed);
}

/**
 * A forge shows the difference to the merge base, which must equal the difference to the level
 * below.
 */
async function isDifferenceShown(git: Building['git'], head: Sha, below: Sha): Promise<boolean> {
  const shared = await git.mergeBase(below, head);
  if (shared === null) return false;
  const [one, other] = [await git.treeOf(shared), await git.treeOf(below)];
  return one.ok && other.ok && one.value === other.value;
}
