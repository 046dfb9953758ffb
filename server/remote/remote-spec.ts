// The input of the process that follows a remote attempt, and its output: files beside the log.

import { readFileSync } from 'node:fs';
import * as z from 'zod';
import { remoteProvisioners } from '../core/settings/remote-settings.ts';
import { writeWhole } from '../files/write-whole.ts';

const remoteSchema = z.object({
  provisioner: z.enum(remoteProvisioners),
  image: z.string().nullable(),
  memoryBytes: z.number().nullable(),
  socket: z.string().nullable(),
  metro: z.string().nullable(),
  ttlMs: z.number(),
  url: z.string().nullable(),
  tokenVariable: z.string(),
  gitRemote: z.string().nullable(),
  host: z.string().nullable(),
  sshArgs: z.array(z.string()),
  hook: z.string().nullable(),
  hookTimeoutMs: z.number(),
});

const specSchema = z.object({
  /** `<task id>/<attempt>/<part>`. */
  run: z.string(),
  /** The worktree. */
  root: z.string(),
  /** Root of the project. */
  projectRoot: z.string(),
  logPath: z.string(),
  /** Folder of leases and local workers. */
  folder: z.string(),
  /** File with the ssh host keys that the user accepted. */
  knownHosts: z.string(),
  owner: z.string(),
  program: z.string(),
  args: z.array(z.string()),
  /**
   * Names of variables that the instance gets when it is created. Their values are in the
   * follower's environment.
   */
  env: z.array(z.string()),
  /** Variables without secrets, which are part of the command. */
  variables: z.record(z.string(), z.string()),
  /** Files of the job by name, with their local paths. */
  brings: z.record(z.string(), z.string()),
  remote: remoteSchema,
});

/** Contains no secrets. */
export type RemoteSpec = z.infer<typeof specSchema>;
/** How workers are created. */
export type WorkerSettings = RemoteSpec['remote'];

const endSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('ran') }),
  z.object({ kind: z.literal('stopped') }),
  z.object({ kind: z.literal('failed'), retryable: z.boolean(), message: z.string() }),
]);

export type RemoteEnd = z.infer<typeof endSchema>;

export const remoteSpecPath = (logPath: string): string => `${logPath}.remote.json`;
export const remoteEndPath = (logPath: string): string => `${logPath}.remote-end.json`;
export const scratchPath = (logPath: string): string => `${logPath}.remote`;

export function readSpec(path: string): RemoteSpec {
  return specSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
}

export function writeEnd(logPath: string, end: RemoteEnd): void {
  writeWhole(remoteEndPath(logPath), JSON.stringify(end));
}

/** Returns null if the follower was killed before it could report. */
export function readEnd(logPath: string): RemoteEnd | null {
  try {
    const parsed = endSchema.safeParse(JSON.parse(readFileSync(remoteEndPath(logPath), 'utf8')));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
