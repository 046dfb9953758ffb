// worktrees, doctor, the backend, and the worker runtime.

import { resolve } from 'node:path';
import { Refusal } from '../../core/failure.ts';
import type { ListenAddress } from '../../core/settings/listen-address.ts';
import { formatBytes } from '../../core/format.ts';
import type { WorktreeView } from '../../protocol/api.ts';
import type { DoctorReport } from '../backends.ts';
import type { CommandContext } from '../context.ts';
import { exitCodes } from '../exit-codes.ts';
import { plainLine } from '../plain-text.ts';
import { wrap } from '../render/fit.ts';
import { worktreeSizesText } from '../render/worktree-sizes.ts';

export async function worktreeList(
  context: CommandContext,
  options: { readonly size?: boolean } = {},
): Promise<number> {
  const client = await context.client('data');
  if (options.size === true) {
    const sizes = await client.call('worktree.sizes', {});
    context.answer(sizes, worktreeSizesText(sizes));
    return exitCodes.done;
  }
  const worktrees = await client.call('worktree.list', {});
  const lines = worktrees.map(worktreeLine);
  context.answer(worktrees, lines.length === 0 ? 'No worktrees.' : lines.join('\n'));
  return exitCodes.done;
}

export async function worktreePrune(
  context: CommandContext,
  options: { readonly dryRun?: boolean; readonly force?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const worktrees = await client.call('worktree.prune', {
    dry_run: options.dryRun === true,
    force: options.force === true,
  });
  const lines = worktrees.map((each) => `${each.action.padEnd(8)} ${worktreeLine(each)}`);
  const wanted = options.dryRun === true ? 'remove' : 'removed';
  const freed = worktrees.filter(({ action }) => action === wanted);
  const bytes = freed.reduce((sum, { size_bytes: each }) => sum + each, 0);
  const verb = options.dryRun === true ? 'Would free' : 'Freed';
  context.answer(
    worktrees,
    lines.length === 0
      ? 'Nothing to prune.'
      : [...lines, `${verb} ${formatBytes(bytes)}.`].join('\n'),
  );
  return exitCodes.done;
}

function worktreeLine(worktree: WorktreeView): string {
  const { path, task_id, branch, status, reason, unmerged_commits, dirty } = worktree;
  const facts = [status];
  if (branch !== null) facts.push(branch);
  if (unmerged_commits > 0)
    facts.push(`${unmerged_commits} unmerged ${unmerged_commits === 1 ? 'commit' : 'commits'}`);
  if (dirty) facts.push('uncommitted changes');
  if (reason !== null) facts.push(reason);
  return plainLine(`${task_id ?? '(free)'}  ${path}  (${facts.join(', ')})`);
}

export async function pruneProject(
  context: CommandContext,
  options: { readonly dryRun?: boolean },
): Promise<number> {
  const client = await context.client('engine');
  const found = await client.call('prune', { dry_run: options.dryRun === true });
  const lines = found.removed
    .filter(({ count }) => count > 0)
    .map(({ kind, count, bytes }) => `${kind.padEnd(10)} ${count}  ${formatBytes(bytes)}`);
  const verb = found.dry_run ? 'Would remove' : 'Removed';
  context.answer(
    found,
    lines.length === 0
      ? 'Nothing is older than [retention] allows.'
      : [...lines, `${verb} ${formatBytes(found.bytes)}.`].join('\n'),
  );
  return exitCodes.done;
}

interface DoctorOptions {
  readonly sandbox?: boolean;
  readonly remoteCommits?: boolean;
  readonly forge?: boolean;
}

const doctorIndent = ' '.repeat(11);

export async function doctor(
  context: CommandContext,
  options: DoctorOptions = {},
): Promise<number> {
  const backends = await context.surroundings.loadBackends();
  const root = backends.findProject(context.directory);
  const sandbox =
    options.sandbox === true && root !== null ? await backends.probeConfinement(root) : null;
  const found = await backends.doctor(root, {
    remoteCommits: options.remoteCommits === true,
    forge: options.forge === true,
  });
  const report = { ...found, ...(sandbox !== null && { sandbox }) };
  const { running, pid, version } = report.backend;
  const backend = running
    ? `ok       backend: running, version ${version ?? '?'}, process ${pid ?? '?'}`
    : 'ok       backend: not running (it starts when it is needed)';
  const { stdout } = context.surroundings;
  const width = stdout.isTTY ? stdout.columns : Number.POSITIVE_INFINITY;
  const checks = report.checks.map(({ name, ok, message }) =>
    wrap(`${ok ? 'ok      ' : 'MISSING '} ${name}: ${plainLine(message)}`, width, doctorIndent),
  );
  const agents = ['', 'Agents:', ...report.agents.map(agentLine)];
  context.answer(report, [backend, ...checks, ...agents, ...probeLines(sandbox)].join('\n'));
  // Scripts that set up a fleet rely on this exit code. Other missing things are only reported.
  const isUnusable = report.checks.some(
    ({ name, ok }) => !ok && /^(?:fleet database|fleet remote|remote commits|forge.*)$/u.test(name),
  );
  return isUnusable ? exitCodes.refused : exitCodes.done;
}

function probeLines(sandbox: DoctorReport['sandbox'] | null): readonly string[] {
  if (sandbox === null || sandbox === undefined) return [];
  const lines = sandbox.map(
    ({ probe, stopped }) => `  ${stopped ? 'stopped ' : 'GETS OUT'} ${plainLine(probe)}`,
  );
  return ['', 'Sandbox probes, run as an agent would:', ...lines];
}

function agentLine(agent: DoctorReport['agents'][number]): string {
  const { kind, found, version, signed_in: signedIn, path, remedy } = agent;
  const login = signedIn === null ? [] : [signedIn ? 'signed in' : 'not signed in'];
  const what = found
    ? ['found', ...(version === null ? [] : [version]), ...login, ...(path === null ? [] : [path])]
    : ['not found'];
  const after = remedy === null ? '' : `: ${remedy}`;
  return `  ${kind.padEnd(12)} ${plainLine(`${what.join(', ')}${after}`)}`;
}

export async function migrate(
  context: CommandContext,
  options: { readonly direction: 'to' | 'from'; readonly url: string | null },
): Promise<number> {
  const root = await context.root();
  const { migrateProject } = await context.surroundings.loadBackends();
  const report = await migrateProject({ root, ...options, env: context.surroundings.env });
  const filled = report.tables.filter(({ rows }) => rows > 0);
  const lines = [
    `Copied ${report.rows} rows from ${report.from} to ${report.to}; every table has the same rows and the same hash.`,
    ...filled.map(({ table, rows, hash }) => `  ${table}: ${rows} (${hash.slice(0, 12)})`),
    options.direction === 'to'
      ? 'The SQLite file is marked as moved. Set DBOS_SYSTEM_DATABASE_URL to work from the database, on every machine of the fleet. To move back: drover migrate --from.'
      : 'The PostgreSQL database is marked as moved: machines that still use it are refused. Unset DBOS_SYSTEM_DATABASE_URL. To move back: drover migrate --to.',
  ];
  context.answer(report, lines.map(plainLine).join('\n'));
  return exitCodes.done;
}

export async function serve(
  context: CommandContext,
  options: { readonly stdio?: boolean; readonly socket?: string; readonly service?: boolean },
): Promise<number> {
  const root = await context.root();
  const { runBackend } = await context.surroundings.loadBackends();
  await runBackend({
    root,
    ...(options.stdio === true && { stdio: true }),
    ...(options.service === true && { staysIdle: true }),
    ...(options.socket !== undefined && { socket: options.socket }),
  });
  return exitCodes.done;
}

export async function serverStop(
  context: CommandContext,
  options: { readonly force?: boolean },
): Promise<number> {
  const client = await context.existingClient();
  if (client === null) {
    context.answer({ leaving: false, reason: 'not running' }, 'No backend is running.');
    return exitCodes.done;
  }
  const answer = await client.call('shutdown', { force: options.force === true });
  if (!answer.leaving) throw new Refusal('busy', answer.reason);
  const { untilStopped } = await context.surroundings.loadBackends();
  const hasStopped = await untilStopped(await context.root());
  context.answer(
    answer,
    hasStopped ? 'The backend has stopped.' : 'The backend is still stopping.',
  );
  return exitCodes.done;
}

export interface WorkerRuntimeOptions {
  readonly listen?: ListenAddress;
  readonly workspace?: string;
  /** Bytes. */
  readonly maxUpload?: number;
  /** Milliseconds. */
  readonly lifetime?: number;
}

export async function workerRuntime(
  context: CommandContext,
  { listen, workspace, maxUpload, lifetime }: WorkerRuntimeOptions,
): Promise<number> {
  const { runWorkerRuntime } = await context.surroundings.loadBackends();
  await runWorkerRuntime({
    env: context.surroundings.env,
    listen: listen ?? null,
    workspace: workspace === undefined ? null : resolve(context.directory, workspace),
    uploadBytes: maxUpload ?? null,
    lifetimeMs: lifetime ?? null,
    onListening: (note) => {
      if (context.json) context.printJson(note);
      else
        context.say(
          `The worker runtime listens on ${note.url}; its workspace is ${note.workspace}.`,
        );
    },
    warn: (sentence) => context.tell(`drover: ${sentence}`),
  });
  return exitCodes.done;
}
