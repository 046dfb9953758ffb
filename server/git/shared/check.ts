// Whether a remote can be what several machines share: found, readable, and letting this machine push several refs at
// once under refs/drover. Asked at the start and by `drover doctor`; the answer is a sentence that holds no password.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { failureOf, refuse } from '../failures.ts';
import type { GitResult } from '../port.ts';
import type { LocalRepository } from '../repository.ts';
import { exists } from '../small-files.ts';
import { openRemote } from './remote.ts';
import { refusalsOf, refusedFailure, remoteFailure } from './words.ts';

export interface RemoteCheck {
  readonly remote: string;
  readonly machineId: string;
  readonly timeoutMs?: number;
}

const defaultTimeoutMs = 60_000;
/** One machine's place to try a push; it is removed afterwards. */
const checkRoot = 'refs/drover/check';

export async function checkRemote(
  local: LocalRepository,
  { remote: name, machineId, timeoutMs = defaultTimeoutMs }: RemoteCheck,
): Promise<GitResult<void>> {
  const named = await checkName(local, name);
  if (!named.ok) return named;
  if (exists(join(local.context.commonDir, 'shallow'))) {
    return refuse(
      'failed',
      `This clone has only a part of the history: run "git fetch --unshallow ${name}".`,
    );
  }
  const remote = openRemote(local.context, { remote: name, timeoutMs, pausesMs: [] });
  const read = await remote.list(['--heads'], []);
  if (!read.ok) return read;
  if (read.value.trim() === '') {
    return refuse('no_commit', `The remote ${name} has no branch yet: push one to it first.`);
  }
  const input = `a check of machine ${machineId} ${randomUUID()}\n`;
  const written = await local.context.git(['hash-object', '-w', '--stdin'], { input });
  if (written.code !== 0) return err(failureOf(written, 'write an object'));
  const blob = written.stdout.toString('utf8').trim();
  const place = `${checkRoot}/${machineId.replace(/[^A-Za-z0-9-]+/gu, '-') || 'machine'}`;
  const refs = [`${place}/one`, `${place}/two`];
  const pushed = await remote.push(
    refs.map((ref) => `+${blob}:${ref}`),
    [],
    true,
  );
  if (pushed.code !== 0) {
    const [refused] = refusalsOf(pushed);
    return err(
      refused === undefined
        ? remoteFailure(pushed, name, `push to ${name}`)
        : refusedFailure(refused, pushed, name),
    );
  }
  // What is left behind harms nobody, and the next check replaces it.
  await remote.push(
    refs.map((ref) => `:${ref}`),
    [],
    true,
  );
  return ok(undefined);
}

async function checkName(local: LocalRepository, name: string): Promise<GitResult<void>> {
  const remedy = `run "git remote add ${name} <address>", or name another remote`;
  if (!/^[A-Za-z0-9_][\w./-]*$/u.test(name)) {
    return refuse('failed', `"${name}" cannot be the name of a git remote; name another one.`);
  }
  const urls = await local.context.git(['remote', 'get-url', '--push', '--all', name]);
  if (urls.problem !== null) return err(failureOf(urls, `look for the remote ${name}`));
  const addresses = urls.stdout.toString('utf8').trim().split('\n');
  if (urls.code !== 0 || addresses[0] === '') {
    return refuse('failed', `This repository has no remote named ${name}: ${remedy}.`);
  }
  if (addresses.length > 1) {
    return refuse(
      'failed',
      `The remote ${name} pushes to ${addresses.length} places, which cannot move as one: leave it one address ("git remote set-url --push ${name} <address>").`,
    );
  }
  return ok(undefined);
}
