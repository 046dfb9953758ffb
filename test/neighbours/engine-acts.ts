// A person's requests to Drover during the run, and failures of its backend.

import { killAll } from '../e2e/support/processes.ts';
import type { StatusSnapshot, TaskView } from '../../server/protocol/api.ts';
import type { SeededChance } from '../doubles/seeded-chance.ts';
import type { Play } from './play.ts';

/** The weight of each in the draw. */
export const engineActs = {
  kill: 8,
  'kill-with-agents': 3,
  pause: 4,
  unpause: 4,
  cancel: 2,
  retry: 3,
  undo: 3,
  'send-back': 2,
  approve: 3,
  'second-run': 4,
  'review-run': 2,
  reset: 2,
  prune: 2,
  restore: 1,
  'stop-backend': 2,
} as const;

export type EngineAct = keyof typeof engineActs;

type Act = (play: Play, chance: SeededChance) => Promise<void>;

/** A command about a task in one of these states; empty if there is none. */
function about(
  states: readonly TaskView['status'][],
  command: (id: string) => readonly string[],
): Act {
  return async (play, chance) => {
    const tasks = ((await play.status()) as StatusSnapshot).tasks;
    const found = tasks.filter(({ status }) => states.includes(status));
    if (found.length > 0) await play.drover(command(chance.pick(found).id));
  };
}

export const engineScripts: { readonly [act in EngineAct]: Act } = {
  kill: async (play) => void (await play.project.killBackend()),
  'kill-with-agents': async (play) => {
    // Not those of the next backend, which a waiting command starts at once.
    const agents = play.agentsRunning();
    await play.project.killBackend();
    killAll(agents);
  },
  pause: about(['ready', 'in_progress', 'claimed', 'blocked'], (id) => ['pause', id]),
  unpause: about(['paused'], (id) => ['unpause', id]),
  cancel: about(['ready', 'in_progress', 'claimed', 'blocked'], (id) => ['cancel', id]),
  retry: about(['failed', 'conflict', 'cancelled'], (id) => ['retry', id]),
  undo: about(['completed'], (id) => ['undo', id]),
  'send-back': about(['needs_review', 'conflict'], (id) => ['send-back', id, 'once more']),
  approve: about(['needs_review'], (id) => ['approve', id]),
  'second-run': async (play) => play.startRun(['run', '--target', 'main', '--workers', '2']),
  'review-run': async (play) =>
    play.startRun(['run', '--target', 'main', '--epic', 'E', '--land', 'review']),
  reset: about(['failed', 'conflict', 'needs_review', 'paused'], (id) => ['reset', id]),
  prune: async (play) => void (await play.drover(['worktree', 'prune'])),
  restore: about(['paused', 'failed', 'needs_review', 'ready'], (id) => ['restore', id]),
  'stop-backend': async (play) => void (await play.drover(['server', 'stop', '--force'])),
};
