// Checks whether several machines can share a remote: it exists, can be read, and lets this machine
// push several refs at once under refs/drover and refs/heads/drover. Runs at the start and in
// `drover doctor`. The result is a sentence without passwords.

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { err, ok } from '../../core/failure.ts';
import { failureOf, gitFailure, refuse, printedId } from '../failures.ts';
import type { GitFailure, GitResult } from '../port.ts';
import type { LocalRepository } from '../local-port.ts';
import { exists } from '../../files/small-files.ts';
import { openRemote, parseListing, type Remote } from './remote.ts';
import { parseRefusals, refusedFailure, remoteFailure } from './remote-failures.ts';
import type { Sha } from '../sha.ts';

export interface RemoteCheck {
  readonly remote: string;
  readonly branchPrefix?: string | undefined;
  readonly machineId: string;
  readonly timeoutMs?: number;
}

/** Rules of the server that a run works with, at a cost. */
export interface RemoteNotes {
  readonly notes: readonly string[];
}

const defaultTimeoutMs = 60_000;
/** The ref under which one machine tries a push; it is removed afterwards. */
const checkRoot = 'refs/drover/check';

export async function checkRemote(
  local: LocalRepository,
  { remote: name, branchPrefix, machineId, timeoutMs = defaultTimeoutMs }: RemoteCheck,
): Promise<GitResult<RemoteNotes>> {
  const named = await checkName(local, name);
  if (!named.ok) return named;
  if (exists(join(local.context.commonDir, 'shallow'))) {
    return refuse(
      'failed',
      `This clone has only a part of the history: run "git fetch --unshallow ${name}".`,
    );
  }
  const remote = openRemote(local.context, {
    remote: name,
    branchPrefix,
    timeoutMs,
    pausesMs: [],
  });
  const read = await remote.list(['--heads'], []);
  if (!read.ok) return read;
  if (read.value.trim() === '') {
    return refuse('no_commit', `The remote ${name} has no branch yet: push one to it first.`);
  }
  const head = await knownHead(local, remote, parseListing(read.value));
  if (!head.ok) return head;
  const place = machineId.replace(/[^A-Za-z0-9-]+/gu, '-') || 'machine';
  return tryRefs(local, remote, place, head.value);
}

/**
 * A commit that both the remote and this clone have, so that pushing a branch at it transfers
 * nothing.
 */
async function knownHead(
  local: LocalRepository,
  remote: Remote,
  heads: ReadonlyMap<string, Sha>,
): Promise<GitResult<Sha>> {
  const { objects } = local.context;
  for (const sha of heads.values()) if ((await objects.commit(sha)) !== null) return ok(sha);
  for (const [ref, sha] of heads) {
    const fetched = await remote.fetch(
      [`+${ref}:${ref.replace(/^refs/u, 'refs/drover/shared')}`],
      [],
    );
    return fetched.ok ? ok(sha) : fetched;
  }
  return refuse('no_commit', `The remote ${remote.name} has no branch yet: push one to it first.`);
}

/**
 * Tries a run's operations on the remote once each, under names of this machine: Drover's refs and
 * an attempt's branch are created, moved forward, read again, moved back and deleted. A run works
 * without the last two, but leaves more behind.
 */
async function tryRefs(
  local: LocalRepository,
  remote: Remote,
  place: string,
  head: Sha,
): Promise<GitResult<RemoteNotes>> {
  const next = await commitOn(local, head, `a check of machine ${place} ${randomUUID()}`);
  if (!next.ok) return next;
  const refs = [`${checkRoot}/${place}/one`, `${checkRoot}/${place}/two`];
  const branch = `refs/heads/drover/check-${place}/1`;
  const all = [...refs, branch];
  const notes: string[] = [];
  const failed =
    (await tryPush(
      remote,
      all.map((ref) => `+${head}:${ref}`),
    )) ??
    (await tryPush(
      remote,
      all.map((ref) => `${next.value}:${ref}`),
    )) ??
    (await whyUnseen(remote, all));
  if (failed === null) {
    const back = await tryPush(remote, [`+${head}:${branch}`]);
    if (back !== null) notes.push(`branches of attempts cannot be moved back (${back.message})`);
  }
  // Leftovers are harmless, and the next check replaces them.
  const gone = await tryPush(
    remote,
    all.map((ref) => `:${ref}`),
  );
  if (failed !== null) return err(failed);
  if (gone !== null)
    notes.push(`branches and refs of finished work remain there (${gone.message})`);
  return ok({ notes });
}

async function tryPush(remote: Remote, refspecs: readonly string[]): Promise<GitFailure | null> {
  const pushed = await remote.push(refspecs, [], true);
  if (pushed.code === 0) return null;
  const [refused] = parseRefusals(pushed);
  return refused === undefined
    ? remoteFailure(pushed, remote.name, `push to ${remote.name}`)
    : refusedFailure(refused, pushed, remote.name);
}

/** A server may accept refs but hide them, so that other machines would never see the landings. */
async function whyUnseen(remote: Remote, refs: readonly string[]): Promise<GitFailure | null> {
  const listed = await remote.list([], refs);
  if (!listed.ok) return listed.error;
  const hidden = refs.filter((ref) => !listed.value.includes(`\t${ref}\n`));
  if (hidden.length === 0) return null;
  return gitFailure(
    'failed',
    `The server of ${remote.name} takes ${hidden[0] ?? ''} but hides it: make it show refs/drover/* (uploadpack.hideRefs, transfer.hideRefs).`,
  );
}

/** An empty commit on top of another one, on no branch. */
async function commitOn(
  local: LocalRepository,
  parent: Sha,
  message: string,
): Promise<GitResult<Sha>> {
  const args = ['commit-tree', '-p', parent, '-m', message, `${parent}^{tree}`];
  const written = await local.context.git(args, { env: await local.context.identity() });
  return printedId(written, 'write a commit');
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
      `The remote ${name} pushes to ${addresses.length} addresses, which cannot be updated as one: keep one address ("git remote set-url --push ${name} <address>").`,
    );
  }
  return ok(undefined);
}
