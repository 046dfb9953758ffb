// Runs in place of an agent's program: runs the agent on a worker, forwards its output, fetches its
// work and exits with its exit code. Like an agent, it outlives the backend, and the next backend
// finds its result on disk.

import { readFileSync, rmSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { workerResult } from '../agents/drover-code/invocation.ts';
import { processStartTime } from '../agents/kit/process/process-list.ts';
import { type JobOutcome, runJob } from '../workers/client/run-job.ts';
import type { TreeListing } from '../workers/client/upload-plan.ts';
import { type HostedRequest, runHostedJob } from '../workers/hosted/hosted-job.ts';
import {
  remoteEndPath,
  readSpec,
  type RemoteSpec,
  scratchPath,
  writeEnd,
} from '../remote/remote-spec.ts';
import { openHostedGit } from '../remote/hosted-git.ts';
import { openTreeReader, type TreeReader } from '../remote/tree-listing.ts';
import { openProvisioner, hostedWorkerAddress } from '../remote/worker-provisioner.ts';

const note = (text: string): void => void process.stderr.write(`drover: ${text}\n`);

async function main(specPath: string): Promise<number> {
  const spec = readSpec(specPath);
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.on(signal, () => stop.abort());
  }
  rmSync(remoteEndPath(spec.logPath), { force: true });
  const prompt = readFileSync(0, 'utf8');
  const outcome = await attempt(spec, prompt, stop.signal);
  writeEnd(spec.logPath, outcome.kind === 'ran' ? { kind: 'ran' } : outcome);
  return exitCodeOf(outcome);
}

async function attempt(spec: RemoteSpec, prompt: string, stop: AbortSignal): Promise<JobOutcome> {
  const tree = openTreeReader(spec.root, process.env);
  const listing = await tree.list();
  if (!listing.ok) return { kind: 'failed', retryable: true, message: listing.error };
  const common = commonOf(spec, tree, listing.value, { prompt, stop });
  if (spec.remote.provisioner === 'hosted') return await hosted(spec, common);
  const { remote, folder, knownHosts, projectRoot } = spec;
  const place = { projectRoot, folder, knownHosts, environment: process.env };
  const provisioner = openProvisioner(remote, place);
  const env: Record<string, string> = {};
  for (const name of spec.env) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  if (!provisioner.capabilities.env && Object.keys(env).length > 0) {
    note(`The ${provisioner.kind} worker has its own environment; no variable of yours is sent.`);
  }
  return await runJob({
    ...common,
    relist: () => tree.list(),
    provisioner,
    image: remote.image,
    program: spec.program,
    args: spec.args,
    env,
    variables: spec.variables,
  });
}

/** The platform creates the worker. Only a base commit and the prompt are sent. */
async function hosted(spec: RemoteSpec, common: CommonRequest): Promise<JobOutcome> {
  const { remote, projectRoot } = spec;
  const platform = hostedWorkerAddress(remote, process.env);
  if (typeof platform === 'string') return { kind: 'failed', retryable: false, message: platform };
  if (remote.gitRemote === null) {
    const message = 'Set [remote] git_remote to the git remote that the platform clones.';
    return { kind: 'failed', retryable: false, message };
  }
  const { scratch } = common;
  const place = { projectRoot, scratch, remote: remote.gitRemote, environment: process.env };
  return await runHostedJob({ ...common, platform, git: openHostedGit(place), statusFile });
}

const statusFile = {
  name: workerResult,
  content: (exitCode: number): string =>
    `${JSON.stringify({ schema_version: 1, ok: exitCode === 0 })}\n`,
};

type CommonRequest = Omit<HostedRequest, 'platform' | 'git' | 'statusFile'>;

function commonOf(
  spec: RemoteSpec,
  tree: TreeReader,
  listing: TreeListing,
  given: Pick<CommonRequest, 'prompt' | 'stop'>,
): CommonRequest {
  const { pid } = process;
  return {
    ...given,
    root: spec.root,
    listing,
    ignored: (paths) => tree.ignored(paths),
    ttlMs: spec.remote.ttlMs,
    owner: spec.owner,
    run: spec.run,
    brings: spec.brings,
    leases: join(spec.folder, 'leases'),
    follower: { pid, startTime: processStartTime(pid) ?? '' },
    scratch: scratchPath(spec.logPath),
    output: {
      onLine: (stream, line) => {
        (stream === 'stdout' ? process.stdout : process.stderr).write(`${line}\n`);
      },
      onGap: (count) => {
        note(count === null ? 'Output was lost here.' : `Output was lost here: ${count} lines.`);
      },
      onAway: (message) => note(`The connection to the worker is lost: ${message}. Trying again.`),
    },
    note,
  };
}

function exitCodeOf(outcome: JobOutcome): number {
  if (outcome.kind !== 'ran') return 1;
  if (outcome.exitCode >= 0) return outcome.exitCode;
  const { signals } = constants;
  const name = `SIG${outcome.signal ?? ''}`;
  // The exit code by which shells report a death by a signal.
  return name in signals ? 128 + signals[name as NodeJS.Signals] : 1;
}

main(process.argv[2] ?? '').then(
  (code) => process.exit(code),
  (error: unknown) => {
    note(error instanceof Error ? error.message : String(error));
    process.exit(1);
  },
);
