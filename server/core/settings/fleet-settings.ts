// Settings for a machine in a fleet: its name, its labels, and when it counts as dead. Rows of the
// settings table.

import { typedKeys } from '../keys-of.ts';
import { droverBranchPrefix } from '../work/ref-names.ts';

export const fleetSettingTable = {
  'fleet.remote': {
    value: { type: 'word', max: 100 },
    fallback: 'origin',
    inFile: true,
    doc: 'Fleet: git remote that all machines share.',
    readBy: 'main (fleet)',
  },
  'fleet.branch_prefix': {
    value: { type: 'branch prefix' },
    fallback: droverBranchPrefix,
    inFile: true,
    doc: "Fleet: prefix of Drover's branches on the shared remote (for example feature/drover-), for servers with a rule for branch names. Use the same value on all machines.",
    readBy: 'main (fleet)',
  },
  'fleet.name': {
    value: { type: 'word', max: 64 },
    fallback: null,
    env: 'DROVER_MACHINE_NAME',
    flag: '--name',
    inFile: true,
    doc: 'Fleet: name of this machine. If unset, its host name. Set this in your user settings file.',
    readBy: 'main (fleet)',
  },
  'fleet.labels': {
    value: { type: 'words', max: 64 },
    fallback: [],
    env: 'DROVER_LABELS',
    flag: '--label',
    inFile: true,
    doc: 'Fleet: capabilities of this machine. A task labeled `needs:gpu` runs only on machines that list `gpu`. Set this in your user settings file.',
    readBy: 'main (fleet)',
  },
  'fleet.agents': {
    value: { type: 'integer', min: 0, max: 64 },
    fallback: null,
    flag: '--agents',
    inFile: true,
    doc: 'Fleet: maximum number of agents on this machine (0 = none). If unset, max_workers.',
    readBy: 'main (fleet)',
  },
  'fleet.lands': {
    value: { type: 'boolean' },
    fallback: null,
    inFile: true,
    doc: 'Fleet: whether this machine runs gates and lands work. If unset, machines with agents do, and any machine while no other can. Set this in your user settings file.',
    readBy: 'main (fleet)',
  },
  'fleet.take_over_after': {
    value: { type: 'duration', min: '3s', max: '10m' },
    fallback: '15s',
    inFile: true,
    doc: 'Fleet: how long a machine can miss heartbeats before its tasks are reassigned.',
    readBy: 'main (fleet)',
  },
} as const;

export type FleetSettingKey = keyof typeof fleetSettingTable;

export const fleetSettingKeys = typedKeys(fleetSettingTable);

export interface FleetSettings {
  readonly remote: string;
  readonly branchPrefix: string;
  /** Empty only if the host name was not read. */
  readonly name: string;
  readonly labels: readonly string[];
  readonly agents: number;
  /** Null = decide automatically: lands if it runs agents, or if no other machine can land. */
  readonly lands: boolean | null;
  readonly takeOverAfterMs: number;
}

export function readFleetSettings(
  get: <T>(key: FleetSettingKey) => T,
  otherwise: { readonly name: string; readonly agents: number },
): FleetSettings {
  return {
    remote: get('fleet.remote'),
    branchPrefix: get('fleet.branch_prefix'),
    name: get<string | null>('fleet.name') ?? otherwise.name,
    labels: [...new Set(get<readonly string[]>('fleet.labels'))],
    agents: get<number | null>('fleet.agents') ?? otherwise.agents,
    lands: get('fleet.lands'),
    takeOverAfterMs: get('fleet.take_over_after'),
  };
}
