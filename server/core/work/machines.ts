// Decides which machines of a fleet can run a task. Its labels `needs:<label>` name labels that the
// machine must have.

const needsPrefix = 'needs:';

/** Labels that a task requires of a machine, without duplicates, in order. */
export function neededLabels(labels: readonly string[]): readonly string[] {
  const needed = new Set<string>();
  for (const label of labels) {
    if (!label.startsWith(needsPrefix)) continue;
    const wanted = label.slice(needsPrefix.length).trim();
    if (wanted !== '') needed.add(wanted);
  }
  return [...needed];
}

/** The task's label that requires a machine label. */
export function needsLabel(label: string): string {
  return `${needsPrefix}${label}`;
}

/** Compares labels exactly: `os=linux` does not match `OS=Linux`. */
export function suits(machineLabels: readonly string[], needed: readonly string[]): boolean {
  return needed.every((label) => machineLabels.includes(label));
}

export const machineStates = ['working', 'draining', 'dead', 'left'] as const;
export type MachineState = (typeof machineStates)[number];

export interface MachineFacts {
  readonly name: string;
  readonly labels: readonly string[];
  readonly state: MachineState;
  /** Number of agents that run on it. */
  readonly busy: number;
  /** Number of further agents that it can start now. */
  readonly room: number;
  /** Explains why the machine accepts fewer tasks than it could. */
  readonly note: string | null;
}

/**
 * A sentence with the remedy that says why no machine accepts a task with these labels now. Returns
 * null if one does, or if there is no fleet, in which labels have no effect.
 */
export function whyNoMachine(
  labels: readonly string[],
  machines: readonly MachineFacts[],
): string | null {
  if (machines.length === 0) return null;
  const alive = machines.filter(({ state }) => state === 'working' || state === 'draining');
  if (alive.length === 0) {
    const gone = listed(machines, ({ name, state }) => `${name}: ${state}`);
    return `No machine of the fleet is running (${gone}). Start "drover worker" on one.`;
  }
  const needed = neededLabels(labels);
  const suited = alive.filter((machine) => suits(machine.labels, needed));
  if (suited.length === 0) return noneSuits(needed, alive);
  const working = suited.filter(({ state }) => state === 'working');
  const those = needed.length === 0 ? 'All machines' : `All machines with ${quoted(needed)}`;
  if (working.length === 0) {
    return `${those} are draining and start nothing new (${listed(suited, ({ name }) => name)}); start "drover worker" again on one.`;
  }
  if (working.some(({ busy, room }) => busy < room)) return null;
  if (working.every(({ busy, room, note }) => busy === 0 && room === 0 && note === null)) {
    return `${those} take no agents ([fleet] agents = 0: ${listed(working, ({ name }) => name)}); start "drover worker" on one that does.`;
  }
  const places = listed(working, placeOf);
  return `${those} are full (${places}); it starts when one has room.`;
}

/**
 * Why the machine of an interrupted attempt does not continue it now. An attempt continues only on
 * the machine on which it started, and waits for it while the machine accepts tasks.
 */
export function whyItsMachine(machine: MachineFacts): string | null {
  if (machine.busy < machine.room) return null;
  return `It resumes where it started, on ${placeOf(machine)}, as soon as a place is free.`;
}

function placeOf({ name, busy, room, note }: MachineFacts): string {
  const why = note === null ? '' : `, ${note.replace(/\.$/u, '')}`;
  return `${name}: ${busy} running, room for ${room}${why}`;
}

function noneSuits(needed: readonly string[], alive: readonly MachineFacts[]): string {
  const offered = new Set(alive.flatMap((machine) => machine.labels));
  const missing = needed.filter((label) => !offered.has(label));
  const none = missing.length > 0 ? `none has ${quoted(missing)}` : 'none has all of them';
  const what = `It needs a machine with ${quoted(needed)}, and ${none}`;
  const there = listed(alive, ({ name, labels }) => {
    return `${name} has ${labels.length === 0 ? 'no labels' : labels.join(', ')}`;
  });
  const label = missing[0] ?? needed[0] ?? '';
  return `${what} (${there}); start "drover worker --label ${label}" on one that can do it, or take ${quoted(needed.map(needsLabel))} off the task.`;
}

/** Why an interrupted attempt cannot continue on its machine. */
export function lostLabelSentence(labels: readonly string[]): string {
  return `its machine was restarted without the ${labels.length === 1 ? 'label' : 'labels'} ${quoted(labels)}`;
}

function quoted(labels: readonly string[]): string {
  return labels.map((label) => `"${label}"`).join(' and ');
}

const namedMax = 5;

function listed(
  machines: readonly MachineFacts[],
  words: (machine: MachineFacts) => string,
): string {
  const more = machines.length - namedMax;
  const named = machines.slice(0, namedMax).map(words);
  return [...named, ...(more > 0 ? [`${more} more`] : [])].join('; ');
}
