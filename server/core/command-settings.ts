// Settings of the project's own commands: the gate and the setup.

export const commandSettingTable = {
  'gate.command': {
    value: { type: 'text' },
    fallback: null,
    env: 'DROVER_GATE',
    flag: '--gate',
    inFile: true,
    doc: 'Shell command that must end with 0 on the merged tree before anything lands.',
    readBy: 'workflows (gate)',
  },
  'gate.timeout': {
    value: { type: 'duration', min: '1s', max: '24h' },
    fallback: '30m',
    inFile: true,
    doc: 'Then the whole process tree of the gate is ended, and the gate is red.',
    readBy: 'workflows (gate)',
  },
  'gate.env_allow': {
    value: { type: 'variables' },
    fallback: [],
    inFile: true,
    doc: 'Variables of your own environment that the gate may see, beside those that agents see.',
    readBy: 'workflows (gate)',
  },
  'setup.command': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Shell command that makes a fresh worktree ready, as "npm ci".',
    readBy: 'workflows (setup)',
  },
  'setup.timeout': {
    value: { type: 'duration', min: '1s', max: '24h' },
    fallback: '15m',
    inFile: true,
    doc: 'Limit of the setup command.',
    readBy: 'workflows (setup)',
  },
  'setup.env_allow': {
    value: { type: 'variables' },
    fallback: [],
    inFile: true,
    doc: 'Variables of your own environment that the setup may see, beside those that agents see.',
    readBy: 'workflows (setup)',
  },
  'setup.copy': {
    value: { type: 'paths' },
    fallback: [],
    inFile: true,
    doc: 'Ignored files of your checkout that every worktree gets a copy of, as ".env.test".',
    readBy: 'workflows (setup)',
  },
  'setup.inputs': {
    value: { type: 'paths' },
    fallback: [],
    inFile: true,
    doc: 'Files whose change runs the setup again, besides the known manifests and lock files (package.json, Cargo.lock and so on).',
    readBy: 'workflows (setup)',
  },
} as const;

export type CommandSettingKey = keyof typeof commandSettingTable;

export interface CommandSettings {
  readonly gate: {
    readonly command: string | null;
    readonly timeoutMs: number;
    readonly envAllow: readonly string[];
  };
  readonly setup: {
    readonly envAllow: readonly string[];
    readonly command: string | null;
    readonly timeoutMs: number;
    readonly copy: readonly string[];
    readonly inputs: readonly string[];
  };
}

export function commandSettingsOf(get: <T>(key: CommandSettingKey) => T): CommandSettings {
  return {
    gate: {
      command: get('gate.command'),
      timeoutMs: get('gate.timeout'),
      envAllow: get('gate.env_allow'),
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
