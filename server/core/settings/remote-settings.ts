// Settings for remote attempts: whether agents run here or on workers, and what creates the
// workers. Rows of the settings table.

export const runPlaces = ['local', 'remote'] as const;
/** The place where an attempt's agent runs. */
export type RunPlace = (typeof runPlaces)[number];

export const remoteProvisioners = [
  'process',
  'static',
  'ssh',
  'docker',
  'hook',
  'unikraft',
  'hosted',
] as const;
export type RemoteProvisioner = (typeof remoteProvisioners)[number];

const reader = 'main (remote attempts)';

export const remoteSettingTable = {
  runs_on: {
    value: { type: 'choice', choices: runPlaces },
    fallback: 'local',
    env: 'DROVER_RUNS_ON',
    inFile: true,
    doc: 'Where agents run: `local`, or `remote` on a worker that `[remote] provisioner` creates. Tasks and epics can override this.',
    readBy: 'workflows (start of an attempt)',
  },
  'remote.provisioner': {
    value: { type: 'choice', choices: remoteProvisioners },
    fallback: null,
    env: 'DROVER_REMOTE_PROVISIONER',
    inFile: true,
    doc: 'Remote: how workers are created: `process` (on this machine), `static` (at an address), `ssh` (on a host), `docker` (in containers), `hook` (by a script), `unikraft` (in Unikraft Cloud) or `hosted` (jobs of a platform).',
    readBy: reader,
  },
  'remote.max': {
    value: { type: 'integer', min: 1, max: 64 },
    fallback: 4,
    inFile: true,
    doc: 'Remote: maximum number of attempts that run on workers at the same time.',
    readBy: 'workflows (start of an attempt)',
  },
  'remote.labels': {
    value: { type: 'words', max: 64 },
    fallback: [],
    inFile: true,
    doc: 'Remote: a task with one of these labels runs on a worker, unless the task itself names a place.',
    readBy: 'workflows (start of an attempt)',
  },
  'remote.image': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (docker, hook, unikraft): image of a worker.',
    readBy: reader,
  },
  'remote.memory': {
    value: { type: 'size', min: '128MB', max: '1024GB' },
    fallback: null,
    inFile: true,
    doc: 'Remote (docker, unikraft): memory of a worker. Default: no limit (docker) or 1GB (unikraft).',
    readBy: reader,
  },
  'remote.socket': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (docker): socket of the container engine. Default: the socket in DOCKER_HOST, or /var/run/docker.sock.',
    readBy: reader,
  },
  'remote.metro': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (unikraft): the metro, or the address of its API. Default: UKC_METRO, or `fra`. The API key is read from UKC_TOKEN.',
    readBy: reader,
  },
  'remote.ttl': {
    value: { type: 'duration', min: '1m', max: '7d' },
    fallback: '6h',
    inFile: true,
    doc: 'Remote: a worker stops itself after this time, even if a task is running.',
    readBy: reader,
  },
  'remote.env': {
    value: { type: 'words', max: 100 },
    fallback: [],
    inFile: true,
    doc: "Remote: names of additional variables to pass to the agent on a worker. Its model's own variables are always passed.",
    readBy: reader,
  },
  'remote.agent_path': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: "Remote: path of the agent's program on the worker. If unset, its file name is looked up on the worker's PATH.",
    readBy: reader,
  },
  'remote.url': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (static, hosted): URL of the worker or the platform (https, or http on loopback).',
    readBy: reader,
  },
  'remote.token_variable': {
    value: { type: 'word', max: 100 },
    fallback: 'DROVER_REMOTE_TOKEN',
    inFile: true,
    doc: 'Remote (static, hosted): name of the environment variable that holds the token of the worker or the platform.',
    readBy: reader,
  },
  'remote.git_remote': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (hosted): git remote that the platform clones, by name or address. Drover pushes the base commit of each job to it.',
    readBy: reader,
  },
  'remote.host': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (ssh): host name, as in your ssh configuration.',
    readBy: reader,
  },
  'remote.ssh_args': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Remote (ssh): extra arguments for ssh, for example ["-F", "/path/to/config"].',
    readBy: reader,
  },
  'remote.hook': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Remote (hook): script that creates, destroys and lists workers. A relative path starts at the project folder.',
    readBy: reader,
  },
  'remote.hook_timeout': {
    value: { type: 'duration', min: '1s', max: '1h' },
    fallback: '5m',
    inFile: true,
    doc: 'Remote (hook): time limit of one call of the script.',
    readBy: reader,
  },
} as const;

export type RemoteSettingKey = keyof typeof remoteSettingTable;

export interface RemoteSettings {
  readonly provisioner: RemoteProvisioner | null;
  readonly max: number;
  readonly labels: readonly string[];
  readonly image: string | null;
  readonly memoryBytes: number | null;
  readonly socket: string | null;
  readonly metro: string | null;
  readonly ttlMs: number;
  readonly env: readonly string[];
  readonly agentPath: string | null;
  readonly url: string | null;
  readonly tokenVariable: string;
  readonly gitRemote: string | null;
  readonly host: string | null;
  readonly sshArgs: readonly string[];
  readonly hook: string | null;
  readonly hookTimeoutMs: number;
}

export function readRemoteSettings(get: <T>(key: RemoteSettingKey) => T): RemoteSettings {
  return {
    provisioner: get('remote.provisioner'),
    max: get('remote.max'),
    labels: get('remote.labels'),
    image: get('remote.image'),
    memoryBytes: get('remote.memory'),
    socket: get('remote.socket'),
    metro: get('remote.metro'),
    ttlMs: get('remote.ttl'),
    env: get('remote.env'),
    agentPath: get('remote.agent_path'),
    url: get('remote.url'),
    tokenVariable: get('remote.token_variable'),
    gitRemote: get('remote.git_remote'),
    host: get('remote.host'),
    sshArgs: get('remote.ssh_args'),
    hook: get('remote.hook'),
    hookTimeoutMs: get('remote.hook_timeout'),
  };
}

/** Picks the settings that decide whether an attempt runs on this machine or on a worker. */
export function pickPlaceRules(settings: {
  readonly runsOn: RunPlace;
  readonly remote: Pick<RemoteSettings, 'max' | 'labels'>;
}): { readonly runsOn: RunPlace; readonly remoteLabels: readonly string[]; readonly max: number } {
  const { labels: remoteLabels, max } = settings.remote;
  return { runsOn: settings.runsOn, remoteLabels, max };
}
