// The machines of a fleet as rows: the state of each, whether it lands work, why it takes no more,
// and the tasks that run on it. Pure.

import { formatCount, formatDuration } from '../../server/core/format.ts';
import { ownedStatuses } from '../../server/core/plan/state.ts';
import { isHandedOver } from '../../server/core/plan/task.ts';
import type { MachineView, TaskView } from '../../server/protocol/views.ts';
import { treeRow, type TreeRow } from '../trees/tree-row.ts';

type RunningTask = Pick<
  TaskView,
  'agent' | 'id' | 'machine' | 'parent_id' | 'phase' | 'started_at' | 'status' | 'title'
>;

export function machineRows(
  machines: readonly MachineView[],
  tasks: readonly RunningTask[],
  nowMs: number,
): readonly TreeRow[] {
  const running = tasks.filter(isOnMachine);
  return machines.map((machine) => {
    const own = running.filter((task) => task.machine === machine.name);
    return machineRow(machine, own, nowMs);
  });
}

/** Changes when a task starts or ends on a machine, or moves to another one. */
export function formatPlaces(tasks: readonly RunningTask[]): string {
  const running = tasks.filter(isOnMachine);
  return running.map(({ id, machine }) => `${id} ${machine}`).join('\n');
}

function isOnMachine({ status, phase, machine, parent_id }: RunningTask): boolean {
  const isRunning = ownedStatuses.has(status) && !isHandedOver(phase);
  return isRunning && typeof machine === 'string' && parent_id === null;
}

type State = MachineView['state'];

const icons: { readonly [S in State]: string } = {
  working: 'vm-running',
  draining: 'vm-pending',
  dead: 'error',
  left: 'vm-outline',
};
const warningColor = 'list.warningForeground';
const errorColor = 'list.errorForeground';

function machineRow(machine: MachineView, tasks: readonly RunningTask[], nowMs: number): TreeRow {
  const { id, name, state, note, lands } = machine;
  const isAlive = state === 'working' || state === 'draining';
  const isHeld = isAlive && note !== null;
  const landing = isAlive ? landingsOf(machine) : [];
  const facts = [
    ...(state === 'working' ? [] : [state]),
    ...(isAlive ? [agentsOf(machine)] : [`heard ${heardAgo(machine)} ago`]),
    ...(landing.length > 0 ? landing : lands ? ['lands'] : []),
  ];
  const ofNote = treeRow({
    id: `note ${id}`,
    label: note ?? '',
    icon: 'warning',
    color: warningColor,
  });
  const children = [...(isHeld ? [ofNote] : []), ...tasks.map((task) => taskRow(id, task, nowMs))];
  return treeRow({
    // VS Code does not expand a row that had no children when it was first shown.
    id: `machine ${id}${children.length === 0 ? '' : ' with rows'}`,
    label: name,
    description: facts.join(' · '),
    tooltip: tooltipOf(machine).join('\n'),
    icon: isHeld ? 'warning' : icons[state],
    color: isHeld ? warningColor : state === 'dead' ? errorColor : null,
    context: `machine.${state}`,
    isOpen: true,
    children,
  });
}

function agentsOf({ agents, agents_max: most }: MachineView): string {
  return most === 0 && agents === 0 ? 'no agents' : `${agents}/${formatCount(most, 'agent')}`;
}

function landingsOf({ landing = [] }: MachineView): readonly string[] {
  return landing.map(({ branch, since_ago_ms: ms }) => {
    return `landing on ${branch} for ${formatDuration(Math.max(1_000, ms))}`;
  });
}

function heardAgo({ heard_ago_ms: ms }: MachineView): string {
  return formatDuration(Math.max(1_000, ms));
}

function tooltipOf(machine: MachineView): readonly string[] {
  const { name, state, note, lands, labels, version, agents_max: most, room } = machine;
  const words: { readonly [S in State]: string } = {
    working: 'It takes tasks.',
    draining: 'It starts nothing new, and exits when its tasks have ended.',
    dead: `It has sent no heartbeat for ${heardAgo(machine)}; its tasks are reassigned.`,
    left: 'It exited normally.',
  };
  const ofAlive = [
    `It runs at most ${formatCount(most, 'agent')}, and has room for ${room} now.`,
    lands ? 'It runs gates and lands work.' : 'It does not land work now.',
    note ?? 'It reaches the git remote, and has enough memory and disk.',
  ];
  return [
    `Machine ${name}`,
    words[state],
    ...(state === 'working' || state === 'draining' ? ofAlive : []),
    ...(labels.length === 0 ? [] : [`Labels: ${labels.join(', ')}`]),
    `Drover ${version}`,
  ];
}

function taskRow(machine: string, task: RunningTask, nowMs: number): TreeRow {
  const { id, title, agent, phase, started_at: since } = task;
  const facts = [
    ...(agent === null ? [] : [agent]),
    ...(phase === null || phase === 'agent' ? [] : [phase]),
    ...(since === null ? [] : [formatDuration(Math.max(0, nowMs - since * 1000))]),
  ];
  return treeRow({
    id: `task ${machine} ${id}`,
    label: title,
    description: facts.join(' · '),
    icon: 'play',
    stream: { task: id, attempt: null },
  });
}
