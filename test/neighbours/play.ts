// Plays one schedule with the real command, real processes and real git, and settles it: everything
// is resumed, retried and approved until nothing changes. Then the oracle checks the result.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StatusSnapshot, TaskView } from '../../server/protocol/api.ts';
import { SeededChance } from '../doubles/seeded-chance.ts';
import { processesOf } from '../e2e/support/processes.ts';
import { makeProject, type Project } from '../e2e/support/project.ts';
import type { RunningProgram } from '../e2e/support/run-program.ts';
import { agentBody, agentScripts, holdingFile } from './agent-acts.ts';
import { engineScripts } from './engine-acts.ts';
import { checkAtTheEnd, checkThePerson, checkWhatIsSaid } from './oracle.ts';
import { finish, keepBothSides, mend, personScripts } from './person-acts.ts';
import { personFacts, type PersonFacts } from './person-facts.ts';
import type { Schedule, TimedAct } from './schedule.ts';
import { Stage } from './stage.ts';

export interface Played {
  readonly violations: readonly string[];
  readonly story: readonly string[];
}

const startWaitMs = 3_000;
/** A standstill lasts forever, while a busy machine only needs more time. */
const runMaxMs = 300_000;
const settleRounds = 8;

/** Red if a line is malformed, or if a file exists that is not in the tree. */
const gateScript = `
if grep -rqE --include='*.txt' --include='*.md' '^(BAD|<<<<<<<|>>>>>>>)' .; then echo "a line is not well-formed" >&2; exit 1; fi
`;

const settings = `max_attempts = 3
[gate]
command = "sh gate.sh"
[backend]
idle_timeout = "20s"
`;

export async function play(
  schedule: Schedule,
  options: { readonly program?: string; readonly isKept?: boolean } = {},
): Promise<Played> {
  const project = makeProject({
    agent: agentBody,
    settings,
    files: { 'gate.sh': gateScript, 'poem.txt': 'a line\n', 'shared.txt': 'all\n' },
  });
  const playing = new Play(project, schedule, options.program);
  const violations: string[] = [];
  try {
    violations.push(...(await playing.all()));
  } catch (error) {
    violations.push(
      `unexpected: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`,
    );
  }
  await project.end(options.isKept === true).catch((error: unknown) => {
    violations.push(`left-over: ${String(error)}`);
  });
  return { violations, story: playing.stage.story };
}

export class Play {
  readonly project: Project;
  readonly stage: Stage;
  readonly schedule: Schedule;
  readonly #program: string | undefined;
  readonly #runs = new Set<RunningProgram>();
  /** The last run's message about waiting landed work. */
  #advised = '';
  #facts: PersonFacts | null = null;

  constructor(project: Project, schedule: Schedule, program?: string) {
    this.project = project;
    this.schedule = schedule;
    this.stage = new Stage(project);
    this.#program = program;
  }

  async all(): Promise<readonly string[]> {
    await this.#prepare();
    this.startRun(this.#firstRun());
    for (const act of this.schedule.acts) await this.#act(act);
    await this.#runsEnd();
    const violations: string[] = [];
    if (this.#facts !== null) violations.push(...checkThePerson(this.stage, this.#facts));
    violations.push(...(await this.#settle()));
    violations.push(...(await checkAtTheEnd(this)));
    return violations;
  }

  /** Runs one Drover command to its end; a refusal is an ordinary answer, but a crash is not. */
  async drover(args: readonly string[]): Promise<string> {
    const done = await this.project.drover(args, this.#with());
    this.stage.tell(
      `drover ${args.join(' ')}: ${done.code} ${done.stderr.trim().split('\n').join(' | ').slice(0, 300)}`,
    );
    if (/^\s+at .*\(.*:\d+:\d+\)/m.test(done.stderr))
      throw new Error(`drover ${args.join(' ')} crashed: ${done.stderr}`);
    return done.stdout;
  }

  async status(): Promise<StatusSnapshot> {
    return JSON.parse(await this.#expect(['status', '--json'])) as StatusSnapshot;
  }

  events(): Promise<string> {
    return this.#expect(['events', '--json']);
  }

  startRun(args: readonly string[]): void {
    const run = this.project.start(args, { ...this.#with(), timeoutMs: runMaxMs });
    this.#runs.add(run);
    const over = (said: string): void => {
      this.#runs.delete(run);
      this.stage.tell(`drover ${args.join(' ')} ended: ${said}`);
    };
    run.ended.then(
      ({ code, stderr }) =>
        over(`${code} ${stderr.trim().split('\n').slice(-3).join(' | ').slice(0, 400)}`),
      (error: unknown) => over(String(error).slice(0, 300)),
    );
  }

  agentsRunning(): ReturnType<typeof processesOf> {
    return processesOf(this.stage.folder).filter(({ what }) => what.includes('agent.sh'));
  }

  /** Quick commands of the program itself need no process, but a copy with a fault does. */
  #expect(args: readonly string[]): Promise<string> {
    return this.project.expect(0, args, this.#program === undefined ? undefined : this.#with());
  }

  #with(): { readonly program?: string } {
    return this.#program === undefined ? {} : { program: this.#program };
  }

  #firstRun(): readonly string[] {
    const { workers, epic } = this.schedule;
    const scope = epic === 'none' ? [] : ['--epic', 'E', '--land', epic];
    return ['run', '--target', 'main', '--workers', String(workers), ...scope];
  }

  async #prepare(): Promise<void> {
    const { stage, schedule, project } = this;
    const remote = join(stage.folder, 'remote.git');
    stage.git(['init', '-q', '--bare', remote]);
    stage.git(['remote', 'add', 'origin', remote]);
    stage.git(['push', '-q', '-u', 'origin', 'main']);
    stage.git(['clone', '-q', remote, stage.far]);
    for (const folder of ['plans', 'acts']) mkdirSync(join(stage.folder, folder));
    for (const { id, pace, shares } of schedule.tasks) {
      const text = `pace=0.${String(pace).padStart(2, '0')}\nshares=${shares ? 'yes' : ''}\n`;
      writeFileSync(join(stage.folder, 'plans', id), text);
    }
    for (const { number, task, attempt, act } of schedule.agents) {
      stage.tell(`(${number}) agent of ${task}, attempt ${attempt}: ${act}`);
      writeFileSync(join(stage.folder, 'acts', `${task}.${attempt}`), `${agentScripts[act]}\n`);
    }
    const records: object[] =
      schedule.epic === 'none' ? [] : [{ id: 'E', type: 'epic', title: 'Epic' }];
    for (const { id, epic_id, parent_id, blocked_by } of schedule.tasks) {
      const type = parent_id === undefined ? 'story' : 'task';
      records.push({ id, type, title: `Task ${id}`, epic_id, parent_id, blocked_by });
    }
    project.write('plan.jsonl', `${records.map((record) => JSON.stringify(record)).join('\n')}\n`);
    await this.#expect(['init']);
    await this.#expect(['import', join(stage.folder, 'plan.jsonl')]);
    this.#facts = personFacts(stage);
  }

  async #act(timed: TimedAct): Promise<void> {
    const { stage } = this;
    const endMs = Date.now() + startWaitMs;
    while (stage.starts() < timed.afterStarts && this.#runs.size > 0 && Date.now() < endMs)
      await pause(15);
    await pause(timed.delayMs);
    const chance = new SeededChance(this.schedule.seed * 104_729 + timed.number);
    if (timed.by === 'engine') {
      stage.tell(`(${timed.number}) engine: ${timed.act}`);
      return engineScripts[timed.act](this, chance);
    }
    const holding = join(stage.folder, holdingFile);
    writeFileSync(holding, '');
    await stage.quiet();
    stage.tell(`(${timed.number}) person: ${timed.act}`);
    personScripts[timed.act](stage, chance);
    this.#facts = personFacts(stage);
    rmSync(holding);
  }

  async #runsEnd(): Promise<void> {
    while (this.#runs.size > 0) await Promise.allSettled([...this.#runs].map(({ ended }) => ended));
  }

  /**
   * The person ends unfinished operations, and agrees to everything, until nothing is left to do.
   */
  async #settle(): Promise<readonly string[]> {
    const { stage } = this;
    stage.tell('settling');
    finish(stage);
    stage.git(['add', '-A']);
    stage.git(['commit', '-qm', 'everything of mine']);
    // A bisect that could not end because of staged changes.
    finish(stage);
    if (stage.git(['symbolic-ref', '-q', 'HEAD']) !== 'refs/heads/main') {
      if (stage.git(['switch', '-q', 'main']) === null) stage.git(['switch', '-q', '-f', 'main']);
    }
    mend(stage);
    let open: readonly TaskView[] = [];
    let codes: readonly (number | null)[] = [];
    this.#advised = '';
    for (let round = 0; round < settleRounds; round += 1) {
      const status = await this.status();
      open = status.tasks.filter(
        ({ status: state }) => !['completed', 'cancelled'].includes(state),
      );
      const waiting = status.target?.pending ?? 0;
      // A further run has nothing to do if the first one has done everything, and each command
      // costs time.
      const isDone =
        round > 0
          ? codes.every((code) => code === 0)
          : // A run of everything looks once more for an epic's landed work.
            status.epics.length === 0 && !this.#wasGivenUp();
      if (isDone && open.length === 0 && waiting === 0) return [];
      if (waiting > 0 && round > 1) this.#bringByHand();
      const clash = status.epics.find(({ landing_state: state }) => state === 'conflict');
      if (clash !== undefined) this.#settleEpic(clash.landing_note ?? '');
      for (const [branch, options] of branchesToMerge(open))
        this.#mergeByHand(stage.root, branch, ...options);
      for (const commits of picksOf(open)) this.#pickByHand(commits);
      for (const command of [...open.flatMap(settling), ...cancelledBlockers(status.tasks)])
        await this.drover(command);
      codes = [await this.#runToItsEnd()];
      const untrue = codes[0] === 0 ? await checkWhatIsSaid(this) : [];
      if (untrue.length > 0) return untrue;
      if (this.schedule.epic !== 'none') {
        codes = [...codes, await this.#runToItsEnd('--epic', 'E', '--land', this.schedule.epic)];
      }
    }
    const status = await this.status();
    const words: string[] = [];
    for (const { id } of open) words.push(`${id}: ${(await this.drover(['why', id])).trim()}`);
    return [
      `stuck: after ${settleRounds} rounds ${open.map(({ id, status: state }) => `${id} ${state}`).join(', ')}; codes ${codes.join(' ')}; ` +
        `${status.target?.pending} wait for ${status.target?.branch}; ${JSON.stringify(status.holds)}; ${status.epics.map(({ landing_state: state, landing_note: note }) => `epic ${state}: ${note}`).join('; ')}\n${words.join('\n')}`,
    ];
  }

  /** An aborted rebase has moved main back; a run restores the landed work when it starts. */
  #wasGivenUp(): boolean {
    const last = this.stage.git(['log', '-1', '-g', '--format=%gs', 'refs/heads/main']);
    return last?.startsWith('rebase (abort)') === true;
  }

  async #runToItsEnd(...scope: readonly string[]): Promise<number | null> {
    const args = ['run', '--target', 'main', '--workers', '3', ...scope];
    const { code, stderr } = await this.project.start(args, {
      ...this.#with(),
      timeoutMs: runMaxMs,
    }).ended;
    this.stage.tell(
      `drover ${args.join(' ')} ended: ${code} ${stderr.trim().split('\n').slice(-3).join(' | ').slice(0, 400)}`,
    );
    this.#advised = stderr;
    // Follows the message literally.
    const words = / Run "drover run (--epic [^"]+)" to land it\./.exec(stderr)?.[1]?.split(' ');
    if (words === undefined || words.every((word) => scope.includes(word))) return code;
    return this.#runToItsEnd(...words);
  }

  /** Landed work that waits for main: merged, or cherry-picked if the message says so. */
  #bringByHand(): void {
    const { stage } = this;
    const advice =
      /(?<merge>merge \S+ into main by hand, and )?run git cherry-pick -m 1 (?<commits>[0-9a-f ]+) on main/;
    const { merge, commits } = advice.exec(this.#advised)?.groups ?? {};
    if (commits === undefined || merge !== undefined)
      this.#mergeByHand(stage.root, 'drover/results/main');
    if (commits !== undefined) this.#pickByHand(commits.split(' '));
  }

  /**
   * A landing and the person's own commits have changed the same lines: the person merges, and
   * keeps both.
   */
  #mergeByHand(folder: string, branch: string, ...options: readonly string[]): void {
    const { stage } = this;
    if (stage.git(['merge', '-q', '--no-edit', ...options, branch], folder) !== null) return;
    keepBothSides(stage, folder);
    stage.git(['add', '-A'], folder);
    stage.git(['commit', '-q', '--no-edit'], folder);
  }

  #pickByHand(commits: readonly string[]): void {
    const { stage } = this;
    const isUnfinished = (): boolean => existsSync(join(stage.root, '.git', 'CHERRY_PICK_HEAD'));
    stage.git(['cherry-pick', '-m', '1', ...commits]);
    for (let at = 0; at < commits.length && isUnfinished(); at += 1) {
      keepBothSides(stage, stage.root);
      stage.git(['add', '-A']);
      // Changes that the previous commits already contain are left out.
      if (stage.git(['cherry-pick', '--continue']) === null && isUnfinished())
        stage.git(['cherry-pick', '--skip']);
    }
  }

  /** Follows the landing's note: cherry-picks, or merges in a separate worktree. */
  #settleEpic(note: string): void {
    const { stage } = this;
    const picks = pickAdvice.exec(note)?.groups?.['commits'];
    if (picks !== undefined) return this.#pickByHand(picks.split(' '));
    const place = join(stage.folder, 'epic-wt');
    if (stage.git(['worktree', 'add', '-q', place, 'drover/epic/E']) === null) return;
    const option = '--allow-unrelated-histories';
    this.#mergeByHand(place, 'main', ...(note.includes(option) ? [option] : []));
    stage.git(['worktree', 'remove', '--force', place]);
  }
}

/**
 * A person's action on a task that does not continue automatically; if the task names a remedy,
 * exactly that remedy.
 */
function settling(task: TaskView): readonly (readonly string[])[] {
  switch (task.status) {
    case 'paused':
      return [['unpause', task.id]];
    case 'failed':
    case 'conflict':
      return [['retry', task.id]];
    case 'needs_review':
      return [task.review_kind === 'no_changes' ? ['retry', task.id] : ['approve', task.id]];
    case 'blocked': {
      const words = task.blocked_reason ?? '';
      const lost = /; reset (\S+), then drover resolve \S+$/.exec(words)?.[1];
      if (lost === undefined && branchesToMerge([task]).size + picksOf([task]).length === 0)
        return [];
      const resolved = ['resolve', task.id, '--note', 'it is there again'];
      return lost === undefined ? [resolved] : [['reset', lost], resolved];
    }
    default:
      return [];
  }
}

/** Includes the options that the message names. */
function branchesToMerge(tasks: readonly TaskView[]): ReadonlyMap<string, readonly string[]> {
  const advice =
    /; merge (?<branch>\S+) into main(?: \(git merge (?<option>\S+) [^)]*\))?, then drover resolve \S+$/;
  const found = tasks.map(({ blocked_reason: words }) => advice.exec(words ?? '')?.groups);
  return new Map(
    found.flatMap((groups) => {
      const { branch, option } = groups ?? {};
      return branch === undefined ? [] : [[branch, option === undefined ? [] : [option]]];
    }),
  );
}

const pickAdvice = /; run git cherry-pick -m 1 (?<commits>[0-9a-f ]+) on main \(/;

/** The commits of each recommended cherry-pick, once. */
function picksOf(tasks: readonly TaskView[]): readonly (readonly string[])[] {
  const found = tasks.map(
    ({ blocked_reason: words }) => pickAdvice.exec(words ?? '')?.groups?.['commits'],
  );
  return [...new Set(found)].flatMap((commits) =>
    commits === undefined ? [] : [commits.split(' ')],
  );
}

/**
 * Nothing that waits for a cancelled task continues before that task is retried, as `drover why`
 * reports.
 */
function cancelledBlockers(tasks: readonly TaskView[]): readonly (readonly string[])[] {
  const waitedFor = new Set(
    tasks
      .filter(({ status }) => status === 'blocked')
      .flatMap(({ blocked_by: blockers }) => blockers),
  );
  return tasks
    .filter(({ id, status }) => status === 'cancelled' && waitedFor.has(id))
    .map(({ id }) => ['retry', id]);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
