// Reads the log of a GitHub Actions job, and requests that the job runs again.

import { isObject } from '../core/exchange/json-object.ts';
import { type JobLog, JobLogReader } from '../core/forge/job-log.ts';
import type { ForgeClient } from './client.ts';
import { type Answer, facts, unreadable } from './port.ts';

export async function readJobLog(
  client: ForgeClient,
  home: string,
  job: number,
  paths: readonly string[],
): Promise<Answer<JobLog>> {
  const reader = new JobLogReader(paths);
  const answer = await client.download(`${home}/actions/jobs/${job}/logs`, (text) =>
    reader.add(text),
  );
  return answer.kind === 'facts' ? facts(reader.end()) : answer;
}

/** Does nothing if the job's workflow has been rerun since. */
export async function rerunJob(
  client: ForgeClient,
  home: string,
  job: number,
): Promise<Answer<null>> {
  const of = await client.get(`${home}/actions/jobs/${job}`);
  if (of.kind !== 'facts') return of;
  const attempt = numberIn(of.value.body, 'run_attempt') ?? 1;
  const run = await client.get(`${home}/actions/runs/${numberIn(of.value.body, 'run_id')}`);
  if (run.kind !== 'facts') return run;
  const { body } = run.value;
  if ((numberIn(body, 'run_attempt') ?? attempt) > attempt) return facts(null);
  if (isObject(body) && body['status'] !== 'completed')
    return unreadable('The workflow of the job is still running.');
  const sent = await client.send('POST', `${home}/actions/jobs/${job}/rerun`);
  return sent.kind === 'facts' ? facts(null) : sent;
}

function numberIn(body: unknown, key: string): number | null {
  const value = isObject(body) ? body[key] : null;
  return typeof value === 'number' ? value : null;
}
