// Decides whether a task's next attempt runs locally or on a remote worker, and which setting says
// so.

import type { RunPlace } from '../settings/remote-settings.ts';

export interface PlaceRules {
  readonly runsOn: RunPlace;
  /** Tasks with one of these labels run on a worker. */
  readonly remoteLabels: readonly string[];
}

export interface PlacedTask {
  readonly runsOn: string | null;
  readonly labels: readonly string[];
  /** The epic's value. */
  readonly epicRunsOn: string | null;
}

export interface ChosenPlace {
  readonly place: RunPlace;
  /** The end of a sentence "… because <reason>". */
  readonly because: string;
}

/** Uses the first value that is set: the task's, that of its labels, the epic's, the project's. */
export function placeOfTask(task: PlacedTask, rules: PlaceRules): ChosenPlace {
  if (task.runsOn !== null) return { place: placeNamed(task.runsOn), because: 'the task says so' };
  const label = task.labels.find((one) => rules.remoteLabels.includes(one));
  if (label !== undefined) {
    return { place: 'remote', because: `its label ${label} is one of [remote] labels` };
  }
  if (task.epicRunsOn !== null) {
    return { place: placeNamed(task.epicRunsOn), because: 'its epic says so' };
  }
  return { place: rules.runsOn, because: 'the settings of the project say so' };
}

function placeNamed(text: string): RunPlace {
  return text === 'remote' ? 'remote' : 'local';
}
