// A person who does anything at any time, mostly when it makes sense.

import { addTask } from '../../server/store/plan/tasks.ts';
import { editTask } from '../../server/store/plan/task-edit.ts';
import { hintTask, retryTask, unpauseTask } from '../../server/workflows/person/controls.ts';
import { approve, sendBack } from '../../server/workflows/person/reviews.ts';
import { resumeRun } from '../../server/workflows/run/start-run.ts';
import type { PersonAtGit } from './person-at-git.ts';
import type { Requests } from './requests.ts';
import type { World } from './world.ts';

/** The requests about one task, with their frequency and the states in which they are made. */
const taskActs = {
  pause: { weight: 8, states: ['in_progress', 'ready', 'claimed', 'waiting'] },
  unpause: { weight: 10, states: ['paused'] },
  cancel: { weight: 5, states: ['in_progress', 'ready', 'claimed', 'waiting', 'needs_review'] },
  retry: { weight: 8, states: ['failed', 'conflict', 'cancelled'] },
  hint: { weight: 5, states: ['in_progress', 'waiting', 'ready'] },
  approve: { weight: 10, states: ['needs_review'] },
  sendBack: { weight: 5, states: ['needs_review'] },
  resolve: { weight: 8, states: ['blocked', 'conflict'] },
  reset: { weight: 4, states: ['completed', 'failed', 'waiting', 'paused'] },
  edit: { weight: 5, states: ['ready', 'blocked', 'paused', 'in_progress', 'waiting'] },
} as const;

const otherActs = { run: 12, stop: 5, resume: 8, answer: 16, add: 2, epic: 8, git: 14 } as const;

type TaskAct = keyof typeof taskActs;

export class WildPerson {
  readonly #world: World;
  readonly #requests: Requests;
  readonly #git: PersonAtGit;

  constructor(world: World, requests: Requests, git: PersonAtGit) {
    this.#world = world;
    this.#requests = requests;
    this.#git = git;
  }

  act(): void {
    const chance = this.#world.personChance;
    const tasks = this.#requests.tasks();
    const isSensible = chance.percent(85);
    const fitting = (act: TaskAct): string[] => {
      const states: readonly string[] = taskActs[act].states;
      const ids = tasks.filter(({ status }) => !isSensible || states.includes(status));
      return ids.map(({ id }) => id);
    };
    const weights: { [act: string]: number } = { ...otherActs };
    for (const act of Object.keys(taskActs) as TaskAct[])
      if (fitting(act).length > 0) weights[act] = taskActs[act].weight;
    const act = chance.weighted(weights);
    if (act in taskActs) this.#actOn(act as TaskAct, chance.pick(fitting(act as TaskAct)));
    else this.#actElse(act as keyof typeof otherActs);
  }

  #actOn(act: TaskAct, id: string): void {
    const chance = this.#world.personChance;
    const requests = this.#requests;
    switch (act) {
      case 'pause':
        return requests.pause(id);
      case 'cancel':
        return requests.cancel(id);
      case 'resolve':
        return requests.resolve(id);
      case 'reset':
        return requests.reset(id);
      case 'edit':
        return this.#edit(id);
      case 'unpause':
        return requests.one(act, id, (engine) =>
          unpauseTask(engine, id, chance.percent(30) ? 'go on' : null),
        );
      case 'retry':
        return requests.one(act, id, (engine) => retryTask(engine, id, chance.percent(20)));
      case 'hint':
        return requests.one(act, id, (engine) => hintTask(engine, id, 'so'));
      case 'approve':
        return requests.one(act, id, approve);
      case 'sendBack':
        return requests.one(act, id, (engine) => sendBack(engine, id, 'not like this'));
    }
  }

  #actElse(act: keyof typeof otherActs): void {
    const chance = this.#world.personChance;
    const requests = this.#requests;
    const epics = this.#world.rows<{ id: string; landing_state: string | null }>(
      'select id, landing_state from epics',
    );
    switch (act) {
      case 'run': {
        const epic = epics.length > 0 && chance.percent(60) ? chance.pick(epics).id : null;
        const land = epic === null ? null : chance.pick(['task', 'epic', 'review', null] as const);
        return requests.run(epic, { land, target: chance.percent(10) ? 'other' : null });
      }
      case 'stop':
        return requests.stopRuns();
      case 'resume':
        return requests.ask('resume', (engine) => resumeRun(engine));
      case 'answer':
        return requests.answer();
      case 'git':
        return this.#git.actWildly();
      case 'add':
        return this.#add();
      case 'epic': {
        const open = epics.filter((epic) => epic.landing_state === 'needs_review');
        if (open.length === 0) return;
        const { id } = chance.pick(open);
        return requests.one('epic', id, (engine) =>
          chance.percent(70) ? approve(engine, id) : sendBack(engine, id, 'not like this'),
        );
      }
    }
  }

  #add(): void {
    const chance = this.#world.personChance;
    const { id } = chance.pick(this.#requests.tasks());
    this.#requests.ask(`add below ${id}`, ({ store }) =>
      store.transaction((tx) =>
        addTask(tx, store.sources, {
          title: 'late',
          ...(chance.percent(70) ? { blocked_by: [id] } : { parent: id }),
        }),
      ),
    );
  }

  #edit(id: string): void {
    const chance = this.#world.personChance;
    const kind = chance.pick(['priority', 'block', 'unblock'] as const);
    const fields =
      kind === 'priority'
        ? { priority: chance.below(4) }
        : kind === 'block'
          ? { add_blockers: [chance.pick(this.#requests.tasks()).id] }
          : { blocked_by: [] };
    this.#requests.ask(`edit ${id} ${JSON.stringify(fields)}`, ({ store }) =>
      store.transaction((tx) => editTask(tx, store.sources, id, fields)),
    );
  }
}
