// Runs in place of an agent's program: runs it on a worker, passes its output on, fetches its work,
// and exits with its exit code. Like an agent, it outlives the backend, and the next backend finds
// its result on disk.

import { readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { processStartTime } from '../agents/kit/process/process-list.ts';
import { type JobOutcome, runJob } from '../workers/client/run-job.ts';
import { endPathOf, readSpec, type RemoteSpec, scratchOf, writeEnd } from './remote/remote-spec.ts';
import { openTreeReader } from './remote/tree-listing.ts';
import { openProvisioner } from './remote/worker-provisioner.ts';

const note = (text: string): void => void process.stderr.write(`drover: ${text}\n`);

async function main(specPath: string): Promise<number> {
  const spec = readSpec(specPath);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort());
  }
  rmSync(endPathOf(spec.logPath), { force: true });
  const prompt = readFileSync(0, 'utf8');
  const outcome = await attempt(spec, prompt, stop.signal);
  writeEnd(spec.logPath, outcome.kind === 'ran' ? { kind: 'ran' } : outcome);
  return exitCodeOf(outcome);
}

async function attempt(spec: RemoteSpec, prompt: string, stop: AbortSignal): Promise<JobOutcome> {
  const tree = openTreeReader(spec.root, process.env);
  const listing = await tree.list();
  if (!listing.ok) return { kind: 'failed', retryable: true, message: listing.error };
  const { remote, folder, projectRoot } = spec;
  const provisioner = openProvisioner(remote, { projectRoot, folder, environment: process.env });
  const env: Record<string, string> = {};
  for (const name of spec.env) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  if (!provisioner.capabilities.env && Object.keys(env).length > 0) {
    note(`The ${provisioner.kind} worker has its own environment; no variable of yours is sent.`);
  }
  const { pid } = process;
  return await runJob({
    root: spec.root,
    listing: listing.value,
    relist: () => tree.list(),
    ignored: (paths) => tree.ignored(paths),
    provisioner,
    image: remote.image,
    ttlMs: remote.ttlMs,
    owner: spec.owner,
    run: spec.run,
    program: spec.program,
    args: spec.args,
    prompt,
    env,
    variables: spec.variables,
    brings: spec.brings,
    leases: join(folder, 'leases'),
    follower: { pid, startTime: processStartTime(pid) ?? '' },
    scratch: scratchOf(spec.logPath),
    output: {
      onLine: (stream, line) => {
        (stream === 'stdout' ? process.stdout : process.stderr).write(`${line}\n`);
      },
      onGap: (count) => {
        note(count === null ? 'Output was lost here.' : `Output was lost here: ${count} lines.`);
      },
    },
    note,
    stop,
  });
}

function exitCodeOf(outcome: JobOutcome): number {
  if (outcome.kind !== 'ran') return 1;
  if (outcome.exitCode >= 0) return outcome.exitCode;
  const { signals } = constants;
  const name = `SIG${outcome.signal ?? ''}`;
  // As shells report a death by a signal.
  return name in signals ? 128 + signals[name as NodeJS.Signals] : 1;
}

main(process.argv[2] ?? '').then(
  (code) => process.exit(code),
  (error: unknown) => {
    note(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
