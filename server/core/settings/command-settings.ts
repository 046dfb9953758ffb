// Settings for the project's commands: the gate and the setup.

import { encodeStages, type GateStage } from './gate-stages.ts';
import { commandNetworks } from './sandbox-settings.ts';

export const commandSettingTable = {
  'gate.command': {
    value: { type: 'text' },
    fallback: null,
    env: 'DROVER_GATE',
    flag: '--gate',
    inFile: true,
    doc: 'Shell command that tests the merged tree. Work lands only if it exits with 0.',
    readBy: 'workflows (gate)',
  },
  'gate.stages': {
    value: { type: 'stages' },
    fallback: {},
    inFile: true,
    doc: 'Commands that run side by side on the merged tree, in place of one gate command: a name and a command for each, or a table with command and paths. A stage with paths is skipped if a merge changes none of them.',
    readBy: 'workflows (gate)',
  },
  'gate.timeout': {
    value: { type: 'duration', min: '1s', max: '24h' },
    fallback: '30m',
    inFile: true,
    doc: "Time limit of the gate. When it expires, the gate's process tree is killed and the gate fails.",
    readBy: 'workflows (gate)',
  },
  'gate.env_allow': {
    value: { type: 'variables' },
    fallback: [],
    inFile: true,
    doc: 'Variables of your environment to pass on to the gate, in addition to those that agents get.',
    readBy: 'workflows (gate)',
  },
  'gate.network': {
    value: { type: 'network', choices: commandNetworks },
    fallback: null,
    inFile: true,
    doc: 'Network access of the gate in a sandbox: `open`, `none`, or a list of hosts. If unset, `[sandbox] network` applies, and `model-only` means `none`.',
    readBy: 'main (confinement)',
  },
  'gate.keep': {
    value: { type: 'paths' },
    fallback: ['target'],
    inFile: true,
    doc: 'Ignored build folders that stay in the gate\'s worktree, once what filled them has landed. "target" counts only beside a Cargo.toml.',
    readBy: 'workflows (gate)',
  },
  'gate.needs': {
    value: { type: 'words', max: 64 },
    fallback: [],
    inFile: true,
    doc: 'Fleet: labels of the machines that run the gate and land work. Machines that lack one of them do neither.',
    readBy: 'workflows (landing)',
  },
  'gate.parallel': {
    value: { type: 'integer', min: 1, max: 64 },
    fallback: null,
    env: 'DROVER_GATE_PARALLEL',
    inFile: true,
    doc: 'Maximum number of gates that run at the same time on this machine to land work sooner. 1 runs one gate of a branch after the other. If unset, half of the processor cores, at most 3.',
    readBy: 'workflows (landing)',
  },
  'setup.command': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Shell command that prepares a new worktree, for example "npm ci".',
    readBy: 'workflows (setup)',
  },
  'setup.timeout': {
    value: { type: 'duration', min: '1s', max: '24h' },
    fallback: '15m',
    inFile: true,
    doc: 'Time limit of the setup command.',
    readBy: 'workflows (setup)',
  },
  'setup.env_allow': {
    value: { type: 'variables' },
    fallback: [],
    inFile: true,
    doc: 'Variables of your environment to pass on to the setup, in addition to those that agents get.',
    readBy: 'workflows (setup)',
  },
  'setup.network': {
    value: { type: 'network', choices: commandNetworks },
    fallback: null,
    inFile: true,
    doc: 'Network access of the setup in a sandbox: `open`, `none`, or a list of hosts. If unset, `[sandbox] network` applies, and `model-only` means `none`.',
    readBy: 'main (confinement)',
  },
  'setup.copy': {
    value: { type: 'paths' },
    fallback: [],
    inFile: true,
    doc: 'Ignored files of your checkout to copy into every worktree, for example ".env.test".',
    readBy: 'workflows (setup)',
  },
  'setup.inputs': {
    value: { type: 'paths' },
    fallback: [],
    inFile: true,
    doc: 'Additional files that, when changed, make the setup run again. Common manifests and lock files (package.json, Cargo.lock and so on) are always included.',
    readBy: 'workflows (setup)',
  },
} as const;

export type CommandSettingKey = keyof typeof commandSettingTable;

export interface CommandSettings {
  readonly gate: {
    /** A shell command, or encoded stages. */
    readonly command: string | null;
    readonly timeoutMs: number;
    readonly envAllow: readonly string[];
    readonly keep: readonly string[];
    readonly needs: readonly string[];
    readonly parallel: number | null;
  };
  readonly setup: {
    readonly envAllow: readonly string[];
    readonly command: string | null;
    readonly timeoutMs: number;
    readonly copy: readonly string[];
    readonly inputs: readonly string[];
  };
}

export function readCommandSettings(get: <T>(key: CommandSettingKey) => T): CommandSettings {
  const stages = get<readonly GateStage[]>('gate.stages');
  return {
    gate: {
      command: stages.length > 0 ? encodeStages(stages) : get('gate.command'),
      timeoutMs: get('gate.timeout'),
      envAllow: get('gate.env_allow'),
      keep: get('gate.keep'),
      needs: get('gate.needs'),
      parallel: get('gate.parallel'),
    },
    setup: {
      command: get('setup.command'),
      timeoutMs: get('setup.timeout'),
      envAllow: get('setup.env_allow'),
      copy: get('setup.copy'),
      inputs: get('setup.inputs'),
    },
  };
}
