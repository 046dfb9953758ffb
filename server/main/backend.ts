// The backend: one per repository, kept single by a lock that dies with it, reachable over a private socket.

import { randomBytes } from 'node:crypto';
import { appendFileSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { Refusal } from '../core/failure.ts';
import { processStartTime } from '../agents/process-list.ts';
import { type BackendAddress, protocolVersion } from '../protocol/api.ts';
import { droverVersion } from '../protocol/version.ts';
import { defaultSocketPath } from '../rpc/transport/address.ts';
import { serveSocket, serveStreams } from '../rpc/transport/server.ts';
import { acquireExclusive } from '../store/sqlite/exclusive.ts';
import { isIdle, launchEngine } from '../workflows/engine.ts';
import { keepFollowing } from '../workflows/keep-following.ts';
import { composeEngine, openProject, type Project } from './compose.ts';
import { allHandlers, feedOf } from './handlers.ts';

export interface BackendOptions {
  readonly root: string;
  readonly socket?: string;
  readonly stdio?: boolean;
}

/** The backend's own log is cut when it grows beyond this. */
const logBytesMax = 4 * 1024 * 1024;
const idleLookMs = 1_000;

/** Runs until idle for long enough, asked to leave, or signalled. Resolves when everything is closed. */
export async function runBackend(options: BackendOptions): Promise<void> {
  const project = await openProject(options.root, process.env, {}, { thorough: true });
  const lock = acquireExclusive(project.places.lock);
  if (lock === null) {
    await project.close();
    throw new Refusal(
      'already_running',
      `a backend is at work for ${options.root} already; drover doctor shows it`,
    );
  }
  const report = backendLog(project);
  const host = composeEngine(project, report);
  let idle = true;
  let clients = 0;
  let idleSinceMs = Date.now();
  const over = Promise.withResolvers<string>();
  const leave = (reason: string): void => over.resolve(reason);
  const handlers = allHandlers(project, host, {
    onShutdown: async (force) => {
      idle = await isIdle(host.engine);
      if (!idle && !force)
        return {
          leaving: false,
          reason: 'tasks are at work; use --force to give them back and end',
        };
      setImmediate(() => leave('asked to leave'));
      return { leaving: true, reason: 'asked to leave' };
    },
  });
  const feed = feedOf(project.store);
  const shared = {
    handlers,
    feed,
    version: droverVersion,
    root: options.root,
    onClientCount: (count: number) => {
      clients = count;
      idleSinceMs = Date.now();
    },
    isIdle: () => idle,
    onLeaving: () => leave('a newer version takes over'),
  };
  await launchEngine(host.engine);
  const stopFollowing = keepFollowing(host.engine);
  const address = options.stdio === true ? null : newAddress(project, options.socket);
  const served =
    address === null
      ? serveStreams({
          ...shared,
          input: process.stdin,
          output: process.stdout,
          onEnd: () => leave('the client is gone'),
        } as never)
      : await serveSocket({ ...shared, path: address.socket, token: address.token });
  if (address !== null) writeAddress(project.places.address, address);
  const look = setInterval(() => {
    void isIdle(host.engine).then(
      (now) => {
        if (!now || clients > 0) idleSinceMs = Date.now();
        idle = now;
        if (now && Date.now() - idleSinceMs >= project.live.settings.backend.idleTimeoutMs)
          leave('idle');
      },
      (error: unknown) => report(error, 'looking whether anything is at work'),
    );
  }, idleLookMs);
  const onSignal = (signal: NodeJS.Signals): void => leave(signal);
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, onSignal);
  const reason = await over.promise;
  clearInterval(look);
  stopFollowing();
  if (address !== null) removeAddress(project.places.address);
  await host.durable.close();
  await (served as { close(reason: string): Promise<void> }).close(reason);
  await project.close();
  lock.release();
}

function newAddress(project: Project, socket: string | undefined): BackendAddress {
  return {
    pid: process.pid,
    start_time: processStartTime(process.pid) ?? '',
    socket: socket ?? defaultSocketPath(project.git.facts.commonDir, process.env),
    token: randomBytes(32).toString('hex'),
    version: droverVersion,
    protocol: protocolVersion,
  };
}

/** Written beside and renamed: a reader sees all of it or nothing. */
function writeAddress(path: string, address: BackendAddress): void {
  const fresh = `${path}.${process.pid}`;
  writeFileSync(fresh, JSON.stringify(address), { mode: 0o600 });
  renameSync(fresh, path);
}

function removeAddress(path: string): void {
  rmSync(path, { force: true });
}

function backendLog(project: Project): (error: unknown, where: string) => void {
  const path = project.places.backendLog;
  mkdirSync(dirname(path), { recursive: true });
  return (error, where) => {
    const words = error instanceof Error ? (error.stack ?? error.message) : JSON.stringify(error);
    try {
      if (statSync(path, { throwIfNoEntry: false })?.size ?? 0 > logBytesMax)
        renameSync(path, `${path}.old`);
      appendFileSync(path, `${new Date().toISOString()} ${where}: ${words}\n`, { mode: 0o600 });
    } catch {
      // A log that can't be written must not end the work.
    }
  };
}
