// The worker runtime: an HTTP server for one workspace and its jobs (worker contract §2).

import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { err, ok, type Result } from '../../core/failure.ts';
import type { ListenAddress } from '../../core/settings/listen-address.ts';
import { Jobs } from './jobs.ts';
import { Leash } from './leash.ts';
import { Routes } from './routes.ts';
import type { WorkerTimes } from './times.ts';
import { Workspace } from './workspace.ts';

export interface WorkerRuntimeOptions {
  readonly token: string;
  readonly address: ListenAddress;
  /** The workspace, which is created if missing. */
  readonly folder: string;
  /** The environment of commands, without the token. */
  readonly env: Readonly<Record<string, string>>;
  /** Limit of an upload, for both its compressed and its unpacked size. */
  readonly uploadBytes: number;
  readonly times: WorkerTimes;
  readonly warn: (sentence: string) => void;
}

export interface WorkerRuntime {
  readonly host: string;
  readonly port: number;
  /** Ends the job, lets its readers receive its end, and stops listening. Takes at most 15 s. */
  readonly close: () => Promise<void>;
}

/** The error is a sentence. */
export async function startWorkerRuntime(
  options: WorkerRuntimeOptions,
): Promise<Result<WorkerRuntime, string>> {
  const { token, folder, env, uploadBytes, times, warn } = options;
  let workspace: Workspace;
  try {
    workspace = new Workspace({ folder, uploadBytes, uploadIdleMs: times.uploadIdleMs, warn });
  } catch (error) {
    return err(`The workspace ${folder} cannot be used: ${messageOf(error)}.`);
  }
  const leash = new Leash();
  const jobs = new Jobs({ folder, env, times, leash });
  let isClosing = false;
  const routes = new Routes({
    token,
    workspace,
    jobs,
    uploadBytes,
    isClosing: () => isClosing,
    warn,
  });
  const server = serve(routes, times.headersMs, warn);
  const listening = await listen(server, options.address);
  if (!listening.ok) {
    leash.close();
    return listening;
  }
  const close = async (): Promise<void> => {
    isClosing = true;
    await closeServer(server, jobs);
    leash.close();
    await workspace.removeLeftovers();
  };
  return ok({ ...listening.value, close });
}

const keepAliveMs = 75_000;
const connectionsMax = 256;

function serve(routes: Routes, headersMs: number, warn: (sentence: string) => void): Server {
  const server = createServer({
    headersTimeout: headersMs,
    connectionsCheckingInterval: Math.min(1000, headersMs),
    // An upload has no time limit.
    requestTimeout: 0,
    keepAliveTimeout: keepAliveMs,
  });
  server.maxConnections = connectionsMax;
  const handle = (request: IncomingMessage, response: ServerResponse): void => {
    routes.handle({ request, response }).catch((error: unknown) => {
      // A client that disconnects during its own request is not an error.
      if (!request.destroyed) warn(`${request.method ?? ''} failed: ${messageOf(error)}.`);
      response.destroy();
    });
  };
  server.on('request', handle);
  // Without this listener, Node would request the body before the token is checked.
  server.on('checkContinue', handle);
  return server;
}

async function listen(
  server: Server,
  { host, port }: ListenAddress,
): Promise<Result<{ readonly host: string; readonly port: number }, string>> {
  return await new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const where = `${host ?? ''}:${String(port)}`;
      resolve(err(`The runtime cannot listen on ${where}: ${error.code ?? error.message}.`));
    });
    server.listen({ port, ...(host !== null && { host }) }, () => {
      const address = server.address();
      if (address === null || typeof address === 'string') throw new Error('no port');
      resolve(ok({ host: address.address, port: address.port }));
    });
  });
}

/** From the stop request to the end of the process. */
const shutdownMs = 15_000;

async function closeServer(server: Server, jobs: Jobs): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  const late = new AbortController();
  const deadline = delay(shutdownMs, undefined, { signal: late.signal }).catch(() => undefined);
  jobs.cancelAll();
  await Promise.race([jobs.over(), deadline]);
  server.closeIdleConnections();
  await Promise.race([closed, deadline]);
  late.abort();
  server.closeAllConnections();
  await closed;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
