// A simulated person: in the wild phase anything at any time, in the calm one whatever helps the work to its end.

import { Refusal } from '../../server/core/failure.ts';
import { addTask } from '../../server/store/tasks.ts';
import { editTask } from '../../server/store/task-edit.ts';
import {
  answerQuestion,
  cancelTask,
  hintTask,
  pauseTask,
  resetTasks,
  resolveTask,
  retryTask,
  unpauseTask,
} from '../../server/workflows/controls.ts';
import { type Engine, stopRuns } from '../../server/workflows/engine.ts';
import { approve, sendBack } from '../../server/workflows/reviews.ts';
import { resumeRun, startRun } from '../../server/workflows/start-run.ts';
import type { World } from './world.ts';
import { PersonAtGit } from './person-at-git.ts';

const wildActs = {
  run: 10,
  stop: 4,
  resume: 5,
  pause: 6,
  unpause: 8,
  cancel: 4,
  retry: 8,
  hint: 4,
  answer: 14,
  approve: 8,
  sendBack: 3,
  resolve: 6,
  reset: 3,
  edit: 4,
  add: 1,
  git: 14,
} as const;

interface TaskFacts {
  readonly id: string;
  readonly status: string;
  readonly blocked_reason: string | null;
  readonly parent_id: string | null;
}

export class Person {
  readonly #world: World;
  readonly #git: PersonAtGit;
  /** Requests on their way. */
  #open = 0;
  #asked = 0;

  constructor(world: World) {
    this.#world = world;
    this.#git = new PersonAtGit(world);
  }

  get isWaiting(): boolean {
    return this.#open > 0;
  }

  /** Sends a request to the living backend; a refusal is an answer like others. */
  #ask(name: string, body: (engine: Engine) => Promise<unknown>): void {
    const { life } = this.#world;
    if (life === null || !life.alive || !life.launched) return;
    this.#world.tell(`person: ${name}`);
    this.#open += 1;
    this.#asked += 1;
    const over = (): void => {
      this.#open -= 1;
    };
    const died = setDied(life, over);
    body(life.engine).then(
      () => {
        if (life.alive) died();
      },
      (error: unknown) => {
        if (!life.alive) return;
        died();
        if (error instanceof Refusal) this.#refused(name, error.message);
        else this.#world.unexpected(error);
      },
    );
  }

  #refused(name: string, message: string): void {
    this.#world.tell(`refused ${name}: ${message}`);
    const told = /merge (\S+) into (\S+) by hand/.exec(message);
    if (this.#world.calm && told !== null) this.#git.mergeInto(told[1] ?? '', told[2] ?? '');
  }

  #tasks(): TaskFacts[] {
    return this.#world.rows<TaskFacts>(
      'select id, status, blocked_reason, parent_id from tasks order by position',
    );
  }

  startRun(epicId: string | null): void {
    const { personChance: chance, calm } = this.#world;
    const land =
      calm || chance.percent(50) ? null : chance.pick(['task', 'epic', 'review'] as const);
    const target = !calm && chance.percent(10) ? 'other' : null;
    const workers = chance.between(1, 4);
    this.#ask(`run ${epicId ?? 'everything'} ${land ?? ''} ${target ?? ''}`, (engine) =>
      startRun(engine, { workers, epicId, target, land, flags: {} }),
    );
  }

  actWildly(): void {
    const chance = this.#world.personChance;
    const act = chance.weighted(wildActs);
    const tasks = this.#tasks();
    const { id } = chance.pick(tasks);
    const of = (...statuses: string[]): string => {
      const fitting = tasks.filter(({ status }) => statuses.includes(status));
      return fitting.length === 0 || chance.percent(15) ? id : chance.pick(fitting).id;
    };
    const epics = this.#world.rows<{ id: string }>('select id from epics').map((row) => row.id);
    switch (act) {
      case 'run':
        return this.startRun(epics.length > 0 && chance.percent(60) ? chance.pick(epics) : null);
      case 'stop':
        return this.#stopRuns();
      case 'resume':
        return this.#ask('resume', (engine) => resumeRun(engine));
      case 'git':
        return this.#git.actWildly();
      case 'answer':
        return this.#answer();
      case 'add':
        return this.#ask('add', ({ store }) =>
          store.transaction((tx) =>
            addTask(tx, store.sources, { title: 'late', blocked_by: [id] }),
          ),
        );
      case 'edit':
        return this.#edit(id, chance.pick(tasks).id);
      case 'approve':
      case 'sendBack': {
        const either =
          chance.percent(30) && epics.length > 0 ? chance.pick(epics) : of('needs_review');
        return this.#ask(`${act} ${either}`, (engine) =>
          act === 'approve' ? approve(engine, either) : sendBack(engine, either, 'not like this'),
        );
      }
      case 'pause':
        return this.#stop('pause', of('in_progress', 'ready', 'claimed'), pauseTask);
      case 'unpause':
        return this.#one('unpause', of('paused'), (engine, task) =>
          unpauseTask(engine, task, chance.percent(30) ? 'go on' : null),
        );
      case 'cancel':
        return this.#stop('cancel', of('in_progress', 'ready'), (engine, task) =>
          cancelTask(engine, task, 'no'),
        );
      case 'retry':
        return this.#one('retry', of('failed', 'conflict', 'cancelled'), (engine, task) =>
          retryTask(engine, task, chance.percent(20)),
        );
      case 'hint':
        return this.#one('hint', of('in_progress'), (engine, task) => hintTask(engine, task, 'so'));
      case 'resolve':
        return this.#one('resolve', of('blocked', 'conflict'), (engine, task) =>
          resolveTask(engine, task, 'there it is'),
        );
      case 'reset':
        return this.#one('reset', of('completed', 'failed'), (engine, task) =>
          resetTasks(engine, { ids: [task], statuses: [] }),
        );
    }
  }

  #stopRuns(): void {
    this.#ask('stop', async (engine) => {
      const asked = this.#asked;
      const beganMs = engine.clock.now();
      const ids = await stopRuns(engine, null);
      if (this.#asked !== asked || engine.clock.now() - beganMs >= 15_000) return;
      for (const run of ids) {
        const left = this.#world.rows<{ id: string }>(
          `select t.id from tasks t join attempts a on a.task_id = t.id and a.epoch = t.epoch
           where t.status in ('claimed', 'in_progress') and a.run_id = ?`,
          run,
        );
        if (left.length > 0) this.#world.violate('stuck', `${left[0]?.id} outlives its run ${run}`);
      }
    });
  }

  /** A request to stop that was answered has been carried out, unless something else was asked meanwhile. */
  #stop(
    name: 'pause' | 'cancel',
    id: string,
    body: (engine: Engine, id: string) => Promise<unknown>,
  ): void {
    this.#ask(`${name} ${id}`, async (engine) => {
      const asked = this.#asked;
      await body(engine, id);
      if (this.#asked !== asked) return;
      const [row] = this.#world.rows<{ status: string }>(
        'select status from tasks where id = ?',
        id,
      );
      const wanted = name === 'pause' ? 'paused' : 'cancelled';
      if (row?.status !== wanted && row?.status !== 'completed')
        this.#world.violate('stuck', `${name} ${id} was answered, but the task is ${row?.status}`);
    });
  }

  #one(name: string, id: string, body: (engine: Engine, id: string) => Promise<unknown>): void {
    this.#ask(`${name} ${id}`, (engine) => body(engine, id));
  }

  #answer(): void {
    const [question] = this.#world.rows<{ id: string }>(
      "select id from questions where state = 'open' order by asked_at_ms, id limit 1",
    );
    if (question !== undefined)
      this.#ask(`answer ${question.id}`, (engine) => answerQuestion(engine, question.id, 'yes'));
  }

  #edit(id: string, other: string): void {
    const chance = this.#world.personChance;
    const kind = chance.pick(['priority', 'block', 'unblock'] as const);
    const fields =
      kind === 'priority'
        ? { priority: chance.below(4) }
        : kind === 'block'
          ? { add_blockers: [other] }
          : { blocked_by: [] };
    this.#ask(`edit ${id} ${JSON.stringify(fields)}`, ({ store }) =>
      store.transaction((tx) => editTask(tx, store.sources, id, fields)),
    );
  }

  /** Answers and tidies up, but decides nothing about tasks. */
  actKindly(): void {
    this.#answer();
    this.#git.tidy();
  }

  /** Does what the messages ask for until everything is done. */
  actHelpfully(): void {
    if (this.isWaiting) return;
    this.actKindly();
    this.#git.mend();
    for (const task of this.#tasks()) this.#help(task);
    const epics = this.#world.rows<{ id: string; landing_state: string | null; branch: string }>(
      'select id, landing_state, branch from epics where landing_state is not null',
    );
    for (const epic of epics) {
      if (epic.landing_state === 'needs_review')
        this.#ask(`approve ${epic.id}`, (engine) => approve(engine, epic.id));
    }
    this.#helpLines();
    const [active] = this.#world.rows("select id from runs where state = 'active'");
    if (active === undefined && unfinishedTasks(this.#world).length > 0) this.startRun(null);
  }

  /** Where Drover says that it can't bring the work together with the person's, the person does. */
  #helpLines(): void {
    const lines = this.#world.rows<{ branch: string; pending_reason: string | null }>(
      'select branch, pending_reason from lines where pending > 0',
    );
    for (const { branch, pending_reason: reason } of lines) {
      if (reason !== null && /conflict|red|has commits/.test(reason))
        this.#git.mergeInto(`drover/results/${branch}`, branch);
    }
  }

  /** Does what the reason asks for, then says so. */
  #unblock(id: string, reason: string): void {
    const reset = /; reset (\S+), then/.exec(reason)?.[1];
    if (reset !== undefined)
      this.#one('reset', reset, (engine, task) =>
        resetTasks(engine, { ids: [task], statuses: [] }),
      );
    const merge = /merge (\S+) into (\S+), then/.exec(reason);
    if (merge !== null) this.#git.mergeInto(merge[1] ?? '', merge[2] ?? '');
    this.#one('resolve', id, (engine, task) => resolveTask(engine, task, 'there it is'));
  }

  #help({ id, status, blocked_reason, parent_id }: TaskFacts): void {
    if (parent_id !== null) return;
    switch (status) {
      case 'paused':
        return this.#one('unpause', id, (engine, task) => unpauseTask(engine, task, null));
      case 'failed':
      case 'conflict':
      case 'cancelled':
        return this.#one('retry', id, (engine, task) => retryTask(engine, task, false));
      case 'needs_review':
        return this.#one('approve', id, approve);
      case 'blocked':
        if (blocked_reason !== null) this.#unblock(id, blocked_reason);
        return;
      default:
        return;
    }
  }
}

/** A sub-task that somebody has cancelled stays out of its parent's work. */
export function unfinishedTasks(world: World): string[] {
  const rows = world.rows<{ id: string }>(
    "select id from tasks where status <> 'completed' and (parent_id is null or status <> 'cancelled')",
  );
  return rows.map(({ id }) => id);
}

/** A request ends with its answer or with the backend, whichever comes first; only once. */
function setDied(life: { alive: boolean; onDeath: (() => void)[] }, over: () => void): () => void {
  let done = false;
  const once = (): void => {
    if (!done) over();
    done = true;
  };
  life.onDeath.push(once);
  return once;
}
