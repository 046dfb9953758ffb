// Chooses the machine of a fleet that runs a task's attempt. A single machine runs everything.
//
// An attempt stays on the machine on which it started, because its worktree, session and process
// are there. If that machine is alive, the task waits for it. If it is dead, has left or lacks a
// label that the task needs, other machines take its attempts.

import { neededLabels, suits } from '../../core/work/machines.ts';
import {
  busyByMachine,
  existingTask,
  type Startable,
  lastAttempt,
  liveMachines,
  type Reads,
  mustStayOnMachine,
  textList,
} from '../../store/port.ts';
import type { Uses } from './engine-ports.ts';

const queuePrefix = 'agents@';

/** The queue for attempts of one machine, which no other machine takes. */
export function agentQueueName(machine: string): string {
  return machine === '' ? 'agents' : `${queuePrefix}${machine}`;
}

/** The machine that owns the queue. Returns null if no single machine does. */
export function machineOfQueue(queue: string): string | null {
  return queue.startsWith(queuePrefix) ? queue.slice(queuePrefix.length) : null;
}

type PlacedTask = Pick<Startable, 'candidate_of' | 'id' | 'labels'>;

interface OpenMachine {
  readonly id: string;
  readonly name: string;
  readonly labels: readonly string[];
  left: number;
}

export interface Placement {
  /** How many agents all machines together can run. Null if only the run's own number applies. */
  readonly room: number | null;
  /** Chooses a machine for the task's next attempt; null if no machine can take it now. */
  choose(task: PlacedTask, except?: ReadonlySet<string>): Promise<string | null>;
  /** Machines that can take the task, whether or not they have room now. */
  machinesFor(task: PlacedTask): readonly string[];
  taken(machine: string): void;
  /** The machine's display name. Returns null if only one machine exists. */
  nameOf(machine: string): string | null;
}

export async function openPlacement(
  engine: Uses<'compatibility' | 'machineId' | 'settings'>,
  tx: Reads,
): Promise<Placement> {
  if (engine.machineId === '') {
    return {
      room: null,
      choose: async (_, except) => (except?.has('') === true ? null : ''),
      machinesFor: () => [''],
      taken: () => {},
      nameOf: () => null,
    };
  }
  const [busy, live] = await Promise.all([busyByMachine(tx), liveMachines(tx)]);
  const machines = live
    .filter((machine) => !machine.isDraining)
    // A machine with another compatibility number cannot continue workflows of this one.
    .filter((machine) => machine.compatibility === engine.compatibility.number)
    .map(({ id, name, labels, room, agentsMax, isCutOff }) => {
      const left = isCutOff ? 0 : room - (busy.get(id) ?? 0);
      return { id, name, labels, room, agentsMax, left };
    });
  return {
    room: machines.reduce((sum, { room }) => sum + room, 0),
    machinesFor: (task) =>
      machines
        .filter((one) => one.agentsMax > 0 && suits(one.labels, neededBy(engine, task)))
        .map(({ id }) => id),
    choose: async ({ id, labels, candidate_of: of }, except = new Set()) => {
      const last = await lastAttempt(tx, id);
      const here = machines.find((machine) => machine.id === last?.machine);
      const needed = neededBy(engine, { labels, candidate_of: of });
      // It may have lost a label since, or a person may have requested another machine.
      const isSuited = here !== undefined && !except.has(here.id) && suits(here.labels, needed);
      if (here !== undefined && mustStayOnMachine(last, isSuited))
        return here.left > 0 ? here.id : null;
      const others = machines.filter((machine) => !except.has(machine.id));
      return isSuited && here.left > 0 ? here.id : freest(others, needed);
    },
    taken: (id) => {
      const machine = machines.find((open) => open.id === id);
      if (machine !== undefined) machine.left -= 1;
    },
    nameOf: (id) => machines.find((machine) => machine.id === id)?.name ?? null,
  };
}

function neededBy(
  engine: Uses<'settings'>,
  { labels, candidate_of: of }: Pick<Startable, 'candidate_of' | 'labels'>,
): readonly string[] {
  // A candidate is gated on the machine of its agent.
  const gates = of === null ? [] : engine.settings().gateNeeds;
  return [...neededLabels(textList(labels)), ...gates];
}

/** Labels that the task needs and that this machine no longer has since it was restarted. */
export async function lostLabels(
  engine: Uses<'machineId' | 'settings' | 'store'>,
  taskId: string,
): Promise<readonly string[]> {
  if (engine.machineId === '') return [];
  const { db } = engine.store;
  const [task, live] = await Promise.all([existingTask(db, taskId), liveMachines(db)]);
  const here = live.find(({ id }) => id === engine.machineId);
  return neededBy(engine, task).filter((label) => here?.labels.includes(label) === false);
}

/** The machine with most room, so that work is spread. */
function freest(machines: readonly OpenMachine[], needed: readonly string[]): string | null {
  let best: OpenMachine | null = null;
  for (const machine of machines) {
    if (machine.left <= 0 || !suits(machine.labels, needed)) continue;
    if (best === null || machine.left > best.left) best = machine;
  }
  return best?.id ?? null;
}
