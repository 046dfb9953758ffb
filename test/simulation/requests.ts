// Sends a person's requests to the backend, as the command line and the sidebar do, and checks that
// the answers were true.

import { Refusal } from '../../server/core/failure.ts';
import {
  answerQuestion,
  cancelTask,
  pauseTask,
  resetTasks,
} from '../../server/workflows/person/controls.ts';
import { resolveTask } from '../../server/workflows/person/resolve-task.ts';
import { stopRuns } from '../../server/workflows/engine.ts';
import { startRun } from '../../server/workflows/run/start-run.ts';
import type { World } from './world.ts';
import type { Engine } from '../../server/workflows/kit/engine-ports.ts';

export interface TaskFacts {
  readonly id: string;
  readonly status: string;
  readonly blocked_reason: string | null;
  readonly parent_id: string | null;
  readonly review_kind: string | null;
}

/** After this time, the answer says that the request takes longer, and the request continues. */
const patienceMs = 15_000;

export class Requests {
  readonly #world: World;
  /** Requests that have not been answered yet. */
  #open = 0;
  #asked = 0;
  onRefusal: (message: string) => void = () => undefined;

  constructor(world: World) {
    this.#world = world;
  }

  get isWaiting(): boolean {
    return this.#open > 0;
  }

  tasks(): TaskFacts[] {
    return this.#world.rows<TaskFacts>(
      'select id, status, blocked_reason, parent_id, review_kind from tasks order by position',
    );
  }

  /** Sends a request to the running backend; a refusal counts as an answer too. */
  ask(name: string, body: (engine: Engine) => Promise<unknown>): void {
    const { life } = this.#world;
    if (life === null || !life.alive || !life.launched) return;
    this.#world.tell(`person: ${name}`);
    this.#open += 1;
    this.#asked += 1;
    let isOver = false;
    const over = (): void => {
      if (!isOver) this.#open -= 1;
      isOver = true;
    };
    life.onDeath.push(over);
    body(life.engine).then(
      () => {
        if (life.alive) over();
      },
      (error: unknown) => {
        if (!life.alive) return;
        over();
        if (!(error instanceof Refusal)) return this.#world.unexpected(error);
        this.#world.tell(`refused ${name}: ${error.message}`);
        this.onRefusal(error.message);
      },
    );
  }

  one(name: string, id: string, body: (engine: Engine, id: string) => Promise<unknown>): void {
    this.ask(`${name} ${id}`, (engine) => body(engine, id));
  }

  run(
    epicId: string | null,
    how: {
      readonly land?: 'task' | 'epic' | 'review' | null;
      readonly target?: string | null;
      /** Absent: some. */
      readonly workers?: number;
    } = {},
  ): void {
    const { land = null, target = null } = how;
    const workers = how.workers ?? this.#world.personChance.between(1, 4);
    this.ask(`run ${epicId ?? 'everything'} ${land ?? ''} ${target ?? ''}`, (engine) =>
      startRun(engine, { workers, epicId, tasks: null, target, land, flags: {} }),
    );
  }

  answer(): void {
    const [question] = this.#world.rows<{ id: string }>(
      "select id from questions where state = 'open' order by asked_at_ms, id limit 1",
    );
    if (question === undefined) return;
    // Usually yes or continue, and sometimes the opposite, because the numbers count as answers
    // too.
    const choice = this.#world.calm || question.id.charCodeAt(4) % 3 > 0 ? '1' : '2';
    this.ask(`answer ${question.id}`, (engine) => answerQuestion(engine, question.id, choice));
  }

  resolve(id: string): void {
    const resolution = { note: 'there it is', anyway: false };
    this.one('resolve', id, (engine, task) => resolveTask(engine, task, resolution));
  }

  reset(id: string): void {
    this.one('reset', id, (engine, task) => resetTasks(engine, { ids: [task], statuses: [] }));
  }

  pause(id: string): void {
    this.#stop('pause', 'paused', id, pauseTask);
  }

  cancel(id: string): void {
    this.#stop('cancel', 'cancelled', id, (engine, task) => cancelTask(engine, task, 'no'));
  }

  /** A stop that was answered has been carried out, unless another request has been made since. */
  #stop(
    name: string,
    wanted: string,
    id: string,
    body: (engine: Engine, id: string) => Promise<unknown>,
  ): void {
    this.ask(`${name} ${id}`, async (engine) => {
      const asked = this.#asked;
      await body(engine, id);
      if (this.#asked !== asked) return;
      const now = this.tasks().find((task) => task.id === id)?.status;
      if (now !== wanted && now !== 'completed')
        this.#world.violate('swallowed', `${name} ${id} was answered, but the task is ${now}`);
    });
  }

  stopRuns(): void {
    this.ask('stop', async (engine) => {
      const asked = this.#asked;
      const beganMs = engine.clock.now();
      const ids = await stopRuns(engine, null);
      if (this.#asked !== asked || engine.clock.now() - beganMs >= patienceMs) return;
      for (const run of ids) this.#checkStopped(run);
    });
  }

  #checkStopped(run: string): void {
    const [left] = this.#world.rows<{ id: string }>(
      `select t.id from tasks t join attempts a on a.task_id = t.id and a.epoch = t.epoch
       where t.status in ('claimed', 'in_progress') and a.run_id = ?`,
      run,
    );
    if (left !== undefined) this.#world.violate('swallowed', `${left.id} outlives its run ${run}`);
  }
}
