// Defines every setting of Drover as data: where it may be set, its allowed values, its default and
// its readers. Every key must have an effect; `readBy` names the part of the engine that uses it.

import { typedKeys } from '../keys-of.ts';
import { type AgentSettingsByKind, fallbackSettingTable } from './agent-settings.ts';
import { type ForecastPolicy, forecastPolicies } from '../forecast/decide.ts';
import type { ChooseRule } from '../plan/best-of.ts';
import { boundSettingTable } from './bound-settings.ts';
import type { Budgets } from '../work/budget.ts';
import type { AgentStep } from '../work/fallback.ts';
import { type ForgeSettings, forgeSettingTable } from './forge-settings.ts';
import { type ReviewSettings, reviewSettingTable } from './review-settings.ts';
import { type FleetSettings, fleetSettingTable } from './fleet-settings.ts';
import type { HostLimits } from '../work/host-limits.ts';
import type { ValueKind } from './setting-values.ts';
import { type RemoteSettings, remoteSettingTable, type RunPlace } from './remote-settings.ts';
import { retentionSettingTable, type RetentionSettings } from './retention.ts';
import { type CommandSettings, commandSettingTable } from './command-settings.ts';
import { type SandboxSettings, sandboxSettingTable } from './sandbox-settings.ts';
import { telemetrySettingTable, type TelemetrySettings } from './telemetry-settings.ts';
import type { TaskTemplates } from '../exchange/templates.ts';
import { webhookSettingTable, type WebhookSettings } from './webhook-endpoints.ts';
import { agentKinds, landModes, type AgentKind, type LandMode } from '../plan/task.ts';

export interface SettingDefinition {
  readonly value: ValueKind;
  /** The default as written in a file; null = not set. */
  readonly fallback: unknown;
  readonly env?: string;
  readonly flag?: string;
  /**
   * False if only an environment variable can set the value, because it belongs to the machine and
   * not to the project.
   */
  readonly inFile: boolean;
  readonly doc: string;
  readonly readBy: string;
}

export const settingTable = {
  'agent.kind': {
    value: { type: 'choice', choices: agentKinds },
    fallback: 'claude',
    env: 'DROVER_AGENT_TYPE',
    flag: '--agent',
    inFile: true,
    doc: 'The agent that works on tasks.',
    readBy: 'workflows (choice of the driver)',
  },
  'agent.path': {
    value: { type: 'text' },
    fallback: null,
    env: 'DROVER_AGENT_PATH',
    inFile: true,
    doc: "Path of the agent's program. If unset, the program is looked up on PATH by its usual name.",
    readBy: 'agents (start)',
  },
  'agent.args': {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: "Extra arguments for the agent's program.",
    readBy: 'agents (start)',
  },
  'agent.model': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Model to request from the agent. If unset, the agent chooses.',
    readBy: 'agents (start)',
  },
  'agent.tools': {
    value: { type: 'boolean' },
    fallback: true,
    inFile: true,
    doc: "Give agents Drover's MCP tools, so that they can add tasks, report blockers and ask questions.",
    readBy: 'workflows (start of an agent)',
  },
  'agent.permission_mode': {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: "Permission mode to pass to the agent, in the agent's own terms.",
    readBy: 'agents (start)',
  },
  'agent.env': {
    value: { type: 'environment' },
    fallback: {},
    inFile: true,
    doc: 'Environment variables for the agent only.',
    readBy: 'agents (environment)',
  },
  ...fallbackSettingTable,
  'spec.model': {
    value: { type: 'text' },
    fallback: null,
    env: 'DROVER_SPEC_MODEL',
    flag: '--model',
    inFile: true,
    doc: 'Model that plans tasks from a design document (`drover spec`).',
    readBy: 'main (plan from spec)',
  },
  guidelines: {
    value: { type: 'text' },
    fallback: '',
    inFile: true,
    doc: 'Project rules that are placed at the start of every prompt.',
    readBy: 'core/prompt (section 1)',
  },
  max_description_size: {
    value: { type: 'size', min: '1KB', max: '250MB' },
    fallback: '256KB',
    inFile: true,
    doc: 'Longest task description to put into the prompt. A longer one is written to a file that the prompt names.',
    readBy: 'workflows (prompt)',
  },
  max_workers: {
    value: { type: 'integer', min: 1, max: 64 },
    fallback: 3,
    env: 'DROVER_WORKERS',
    flag: '--workers',
    inFile: true,
    doc: 'Maximum number of agents that run at the same time.',
    readBy: 'workflows (queue limit)',
  },
  task_timeout: {
    value: { type: 'duration', min: '1s', max: '24h' },
    fallback: '60m',
    env: 'DROVER_TASK_TIMEOUT',
    inFile: true,
    doc: "Time limit of one attempt. When it expires, the agent's process tree is killed.",
    readBy: 'agents (watchdog)',
  },
  max_attempts: {
    value: { type: 'integer', min: 1, max: 10 },
    fallback: 3,
    inFile: true,
    doc: 'Number of attempts before a task fails.',
    readBy: 'store (new tasks)',
  },
  plan: {
    value: { type: 'boolean' },
    fallback: false,
    inFile: true,
    doc: 'Have an agent plan each task first, and wait for your approval of the plan. `--plan` and `--no-plan` override this for one task.',
    readBy: 'workflows (start of tasks)',
  },
  task_context_count: {
    value: { type: 'integer', min: 0, max: 20 },
    fallback: 5,
    inFile: true,
    doc: 'Number of finished tasks of the same epic that a prompt summarizes.',
    readBy: 'core/prompt (section 2)',
  },
  task_context_max_age: {
    value: { type: 'duration', min: '1m', max: '168h' },
    fallback: '24h',
    inFile: true,
    doc: 'Leave finished tasks older than this out of the prompt.',
    readBy: 'core/prompt (section 2)',
  },
  note_count: {
    value: { type: 'integer', min: 0, max: 10 },
    fallback: 10,
    inFile: true,
    doc: 'Maximum number of notes of agents and people that a prompt contains (0 = no notes).',
    readBy: 'workflows (prompt)',
  },
  max_commit_file_size: {
    value: { type: 'size', min: '1KB', max: '10GB' },
    fallback: '10MB',
    inFile: true,
    doc: 'Hold files larger than this for review instead of committing them. They stay in the worktree.',
    readBy: 'git (commit of leftovers)',
  },
  max_output_size: {
    value: { type: 'size', min: '4KB', max: '10GB' },
    fallback: '50MB',
    inFile: true,
    doc: 'Maximum output to keep for one attempt. Longer output loses its middle; the log states how many bytes were dropped.',
    readBy: 'agents (log)',
  },
  default_labels: {
    value: { type: 'texts' },
    fallback: [],
    inFile: true,
    doc: 'Labels to add to every task that `drover add` creates.',
    readBy: 'rpc (add)',
  },
  templates: {
    value: { type: 'templates' },
    fallback: {},
    inFile: true,
    doc: 'Task templates, one table [templates.<name>] for each. `drover add --template <name>` uses one; `--set` fills its {{placeholders}}.',
    readBy: 'rpc (add)',
  },
  worktree_root: {
    value: { type: 'text' },
    fallback: null,
    inFile: true,
    doc: 'Folder for worktrees, absolute or relative to the project. If unset, ../<name>.worktrees. In your user settings file, each project gets its own folder below it.',
    readBy: 'workflows (pool of worktrees)',
  },
  env_allow: {
    value: { type: 'variables' },
    fallback: [],
    inFile: true,
    doc: 'Variables of your environment to pass on to agents, in addition to the few they always get.',
    readBy: 'agents (environment)',
  },
  ...commandSettingTable,
  'worktree.keep_ignored': {
    value: { type: 'boolean' },
    fallback: true,
    inFile: true,
    doc: "Keep ignored files that the setup created (dependencies) when a task reuses a worktree. Ignored files that an agent wrote are removed; results among them are kept by a snapshot. The gate's worktree keeps only what the setup created.",
    readBy: 'workflows (pool of worktrees)',
  },
  'worktree.sparse': {
    value: { type: 'paths' },
    fallback: [],
    inFile: true,
    doc: 'Folders to check out in worktrees (empty = all).',
    readBy: 'git (worktree)',
  },
  'worktree.ports_per_task': {
    value: { type: 'integer', min: 0, max: 100 },
    fallback: 10,
    inFile: true,
    doc: 'Number of ports to reserve for each worktree, starting at DROVER_PORT_BASE.',
    readBy: 'workflows (environment of a task)',
  },
  'worktree.disk_limit': {
    value: { type: 'size', min: '1MB', max: '1000000GB' },
    fallback: null,
    inFile: true,
    doc: 'Start no task while the worktrees of this machine take at least this much space. If unset, no limit. "drover worktree list --size" shows what they take.',
    readBy: 'workflows (start of tasks)',
  },
  'commit.run_hooks': {
    value: { type: 'boolean' },
    fallback: false,
    inFile: true,
    doc: "Run the repository's git hooks when Drover commits what an agent left uncommitted.",
    readBy: 'git (commit of leftovers)',
  },
  'checkout.follow': {
    value: { type: 'choice', choices: ['fast-forward', 'never'] },
    fallback: 'fast-forward',
    inFile: true,
    doc: 'Whether to update the target branch while it is checked out.',
    readBy: 'workflows (landing)',
  },
  'land.mode': {
    value: { type: 'choice', choices: landModes },
    fallback: null,
    flag: '--land',
    inFile: true,
    doc: 'What lands on the target branch: each task, each finished epic, each epic after your review, or each epic by a pull request. If unset: `epic` for a run of one epic, otherwise `task`.',
    readBy: 'workflows (run)',
  },
  'land.target': {
    value: { type: 'text' },
    fallback: null,
    flag: '--target',
    inFile: true,
    doc: 'Branch to land work on. If unset, the branch that is checked out when the run starts.',
    readBy: 'workflows (run)',
  },
  ...reviewSettingTable,
  ...forgeSettingTable,
  ...boundSettingTable,
  ...sandboxSettingTable,
  ...remoteSettingTable,
  ...fleetSettingTable,
  'backend.idle_timeout': {
    value: { type: 'duration', min: '1s', max: '168h' },
    fallback: '1m',
    inFile: true,
    doc: 'Stop the backend after it has been idle for this long.',
    readBy: 'main (backend)',
  },
  'run.keep_awake': {
    value: { type: 'boolean' },
    fallback: true,
    inFile: true,
    doc: 'Keep the machine from going to sleep while agents or gates run.',
    readBy: 'main (backend)',
  },
  'run.on_forecast': {
    value: { type: 'choice', choices: forecastPolicies },
    fallback: 'tell',
    inFile: true,
    doc: 'What to do when the changes of two running tasks conflict: `tell` both agents, `order` them, so that one stops and continues after the other one has landed, or `off`, which compares nothing.',
    readBy: 'workflows (forecast)',
  },
  database: {
    value: { type: 'sqlite' },
    fallback: null,
    env: 'DROVER_DATABASE_URL',
    inFile: false,
    doc: 'Database file of the project. If unset, .drover/drover.db.',
    readBy: 'main (store)',
  },
  fleet_database: {
    value: { type: 'postgres' },
    fallback: null,
    env: 'DBOS_SYSTEM_DATABASE_URL',
    inFile: false,
    doc: 'PostgreSQL database of a fleet, in which several machines share one queue of tasks.',
    readBy: 'main (fleet)',
  },
  ...webhookSettingTable,
  ...retentionSettingTable,
  ...telemetrySettingTable,
} as const satisfies Readonly<Record<string, SettingDefinition>>;

export type SettingKey = keyof typeof settingTable;

export const settingKeys = typedKeys(settingTable);

/** Sources of a value, highest first. */
export const settingSources = ['policy', 'flag', 'env', 'project', 'user', 'default'] as const;
export type SettingSource = (typeof settingSources)[number];

/** All settings, parsed and validated. */
export interface Settings {
  readonly agent: {
    readonly kind: AgentKind;
    readonly path: string | null;
    readonly args: readonly string[];
    readonly model: string | null;
    readonly permissionMode: string | null;
    readonly tools: boolean;
    readonly env: Readonly<Record<string, string>>;
    readonly fallback: readonly AgentStep[];
    readonly fallbackAfter: number;
    /** null = wait for every limit, however long. */
    readonly fallbackWaitMs: number | null;
  };
  readonly agents: AgentSettingsByKind;
  readonly bestOf: number;
  readonly choose: ChooseRule;
  readonly specModel: string | null;
  readonly guidelines: string;
  readonly maxDescriptionBytes: number;
  readonly maxWorkers: number;
  readonly taskTimeoutMs: number;
  readonly maxAttempts: number;
  /** Whether tasks need a plan first unless they have a value of their own. */
  readonly plansFirst: boolean;
  readonly taskContextCount: number;
  readonly taskContextMaxAgeMs: number;
  readonly noteCount: number;
  readonly review: ReviewSettings;
  readonly maxCommitFileBytes: number;
  readonly protectedPaths: readonly string[];
  readonly secretsAllowed: readonly string[];
  readonly portableNames: boolean;
  readonly linksAllowed: readonly string[];
  readonly maxOutputBytes: number;
  readonly defaultLabels: readonly string[];
  readonly templates: TaskTemplates;
  readonly worktreeRoot: string | null;
  readonly envAllow: readonly string[];
  readonly gate: CommandSettings['gate'];
  readonly setup: CommandSettings['setup'];
  readonly worktree: {
    readonly keepIgnored: boolean;
    /** null = check out everything. */
    readonly sparse: readonly string[] | null;
    readonly portsPerTask: number;
  };
  readonly commit: { readonly runHooks: boolean };
  readonly checkout: { readonly follow: 'fast-forward' | 'never' };
  readonly forge: ForgeSettings;
  readonly land: { readonly mode: LandMode | null; readonly target: string | null };
  readonly budget: Budgets;
  readonly machine: HostLimits;
  readonly sandbox: SandboxSettings;
  readonly runsOn: RunPlace;
  readonly remote: RemoteSettings;
  readonly backend: { readonly idleTimeoutMs: number; readonly keepAwake: boolean };
  readonly onForecast: ForecastPolicy;
  /** The database file, if it is not the project's default. */
  readonly databasePath: string | null;
  readonly fleetDatabaseUrl: string | null;
  readonly fleet: FleetSettings;
  readonly webhooks: WebhookSettings;
  readonly retention: RetentionSettings;
  readonly otel: TelemetrySettings;
}
