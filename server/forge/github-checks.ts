// The checks of a commit from all sources: check runs, Actions jobs if the token may not read check
// runs, and commit statuses.

import type { Check } from '../core/forge/pull-facts.ts';
import type { ForgeClient } from './client.ts';
import { readList } from './github-list.ts';
import {
  readAnnotation,
  readCheckRun,
  readJob,
  readRunId,
  readStatus,
} from './github-pull-format.ts';
import { type Answer, facts, factsWithout, type Unreadable } from './port.ts';

/** Maximum number of failed checks whose annotations are read. */
const redMax = 5;

/** `home`: `repos/<owner>/<name>`. */
export async function readChecks(
  client: ForgeClient,
  home: string,
  sha: string,
): Promise<Answer<readonly Check[]>> {
  const runs = await readRuns(client, home, sha);
  if (runs.kind === 'limited') return runs;
  const path = `${home}/commits/${sha}/status`;
  const statuses = await readList(client, path, readStatus, 'commit statuses');
  if (statuses.kind === 'limited') return statuses;
  if (runs.kind === 'unreadable' && statuses.kind === 'unreadable') return runs;
  const found = [runs, statuses].flatMap((one) => (one.kind === 'facts' ? one.value : []));
  const missing = [
    runs.kind === 'unreadable' ? runs.why : runs.missing,
    statuses.kind === 'unreadable' ? cannotRead('commit statuses', statuses) : undefined,
  ].filter((clause) => clause !== undefined);
  return missing.length === 0 ? facts(found) : factsWithout(found, missing.join('; '));
}

async function readRuns(
  client: ForgeClient,
  home: string,
  sha: string,
): Promise<Answer<readonly Check[]>> {
  const path = `${home}/commits/${sha}/check-runs`;
  const runs = await readList(client, path, readCheckRun, 'check runs');
  if (runs.kind === 'facts') return facts(await withAnnotations(client, home, runs.value));
  if (runs.kind === 'limited' || runs.cause === 'other' || runs.cause === 'signed_out') return runs;
  const jobs = await readJobs(client, home, sha);
  switch (jobs.kind) {
    case 'facts': {
      const seen = 'only jobs of Actions and commit statuses are seen';
      return factsWithout(jobs.value, `${cannotRead('check runs', runs)}: ${seen}`);
    }
    case 'unreadable': {
      const why = `neither check runs nor jobs of Actions can be read with this token${needed(runs)}`;
      return { ...runs, why };
    }
    case 'limited':
      return jobs;
  }
}

/** A job has the same name as its check run. */
async function readJobs(
  client: ForgeClient,
  home: string,
  sha: string,
): Promise<Answer<readonly Check[]>> {
  const path = `${home}/actions/runs?head_sha=${sha}`;
  const runs = await readList(client, path, readRunId, 'jobs of Actions');
  if (runs.kind !== 'facts') return runs;
  const found: Check[] = [];
  for (const run of runs.value) {
    const jobs = await readList(client, `${home}/actions/runs/${run}/jobs`, readJob);
    if (jobs.kind !== 'facts') return jobs;
    found.push(...jobs.value);
  }
  return facts(found);
}

async function withAnnotations(
  client: ForgeClient,
  home: string,
  runs: readonly NonNullable<ReturnType<typeof readCheckRun>>[],
): Promise<readonly Check[]> {
  const found: Check[] = [];
  let reads = 0;
  for (const { id, hasAnnotations, ...check } of runs) {
    if (check.state !== 'red' || !hasAnnotations || reads >= redMax) {
      found.push(check);
      continue;
    }
    reads += 1;
    const path = `${home}/check-runs/${id}/annotations`;
    const annotations = await readList(client, path, readAnnotation);
    // Annotations are helpful but not required.
    found.push({ ...check, annotations: annotations.kind === 'facts' ? annotations.value : [] });
  }
  return found;
}

function cannotRead(subject: string, refusal: Unreadable): string {
  return `${subject} cannot be read with this token${needed(refusal)}`;
}

function needed({ needs }: Unreadable): string {
  return needs === undefined ? '' : ` (it needs ${needs})`;
}
