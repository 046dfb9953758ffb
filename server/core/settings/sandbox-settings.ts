// Settings for confinement: the sandbox in which agents, gates and setups run. Rows of the settings
// table.

import { protectedByDefault } from '../plan/protected-paths.ts';

export const sandboxModes = ['auto', 'bwrap', 'srt', 'agent', 'off'] as const;
export type SandboxMode = (typeof sandboxModes)[number];

export const sandboxNetworks = ['open', 'none', 'model-only'] as const;
/** A list names the hosts that may be reached. */
export type SandboxNetwork = (typeof sandboxNetworks)[number] | readonly string[];

/** Networks for gates and setups, which never need to reach a model. */
export const commandNetworks = ['open', 'none'] as const;
export type CommandNetwork = (typeof commandNetworks)[number] | readonly string[];

const reader = 'main (confinement)';

export const sandboxSettingTable = {
  'sandbox.mode': {
    value: { type: 'choice', choices: sandboxModes },
    fallback: 'auto',
    env: 'DROVER_SANDBOX',
    inFile: true,
    doc: 'How agents, gates and setups are confined. `auto` uses a sandbox that works on this machine, and reports if none does. `agent` switches on the sandbox of the agent itself (Claude Code), and confines no gate or setup.',
    readBy: reader,
  },
  'sandbox.network': {
    value: { type: 'network', choices: sandboxNetworks },
    fallback: 'open',
    inFile: true,
    doc: 'Network access of confined programs: `open` (all), `none`, `model-only` (an agent reaches the API of its model; gates and setups reach nothing), or a list of hosts such as ["registry.npmjs.org", "*.example.com", "localhost:5432"], which agents reach besides their model. A host without a port stands for ports 80 and 443.',
    readBy: reader,
  },
  'sandbox.read': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Additional files and folders that confined programs can read, for example "~/.npmrc".',
    readBy: reader,
  },
  'sandbox.write': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Additional files and folders that confined programs can write.',
    readBy: reader,
  },
  'sandbox.required': {
    value: { type: 'boolean' },
    fallback: false,
    inFile: true,
    doc: 'Refuse to start agents, gates and setups on machines without a working sandbox.',
    readBy: reader,
  },
  'protect.secrets_allowed': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Files and folders whose names and contents may look like secrets (test data, modules of that name): of these, only known secret values are held back.',
    readBy: 'git (commit of leftovers)',
  },
  'protect.links_allowed': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Files and folders that may be symbolic links out of the project. Other new ones wait for your review.',
    readBy: 'git (commit of leftovers)',
  },
  'protect.paths': {
    value: { type: 'texts' },
    fallback: protectedByDefault,
    inFile: true,
    doc: 'Files and folders, in any folder, that land only after your review when they change. Your list replaces this one.',
    readBy: 'git (commit of leftovers)',
  },
  'protect.portable_names': {
    value: { type: 'boolean' },
    fallback: true,
    inFile: true,
    doc: 'Hold new files whose names cannot be checked out on Windows or macOS (`nul`, `a:b`, `end.`), or that differ only by case from another file.',
    readBy: 'git (commit of leftovers, landing)',
  },
} as const;

export type SandboxSettingKey = keyof typeof sandboxSettingTable;

export interface SandboxSettings {
  readonly mode: SandboxMode;
  readonly network: SandboxNetwork;
  /** Null = use `network`. */
  readonly gateNetwork: CommandNetwork | null;
  readonly setupNetwork: CommandNetwork | null;
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly required: boolean;
}

export function readSandboxSettings(
  get: <T>(key: SandboxSettingKey | 'gate.network' | 'setup.network') => T,
): SandboxSettings {
  return {
    mode: get('sandbox.mode'),
    network: get('sandbox.network'),
    gateNetwork: get('gate.network'),
    setupNetwork: get('setup.network'),
    read: get('sandbox.read'),
    write: get('sandbox.write'),
    required: get('sandbox.required'),
  };
}

/** Describes the setting to people in one word. */
export function networkText(network: SandboxNetwork): string {
  return typeof network === 'string' ? network : network.join(', ');
}
