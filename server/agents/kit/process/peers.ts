// Identifies the process at the other end of the owner's socket. Node does not report a peer's
// credentials, so Linux is asked for the other socket (`ss`) and the process that has it open. If
// that fails, only the token counts.

import { readdirSync, readlinkSync } from 'node:fs';
import type { Socket } from 'node:net';
import { findProgram } from './find-program.ts';
import { runToEnd } from '../../../platform/run-to-end.ts';
import { isOfRun } from './run-of-process.ts';
import { thisPlatform } from '../../../platform/this-platform.ts';

const answerBytesMax = 16 * 1024 * 1024;
const answerWaitMs = 2_000;

/** Whether the peer is a process of a run of this project. Returns false if unknown. */
export async function isPeerOfRun(socket: Socket, project: string): Promise<boolean> {
  if (!thisPlatform.hasProcFiles) return false;
  const own = ownInode(socket);
  const peer = own === null ? null : await peerInode(own);
  const holder = peer === null ? undefined : holderOf(peer);
  return holder !== undefined && isOfRun(project, holder);
}

function ownInode(socket: Socket): string | null {
  const { _handle: handle } = socket as Socket & { readonly _handle?: { readonly fd?: number } };
  return handle?.fd === undefined ? null : inodeAt(`/proc/self/fd/${handle.fd}`);
}

function inodeAt(path: string): string | null {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(path))?.[1] ?? null;
  } catch {
    return null;
  }
}

/** A line of `ss` ends with our number and the other one: `… /path 1173 * 1174`. */
async function peerInode(own: string): Promise<string | null> {
  const program = findProgram('ss', { PATH: '/usr/bin:/bin:/usr/sbin:/sbin' }, '/');
  if (program === null) return null;
  const limits = { timeoutMs: answerWaitMs, signal: null, maxOutputBytes: answerBytesMax };
  const request = { program, args: ['-xnH'], env: { LC_ALL: 'C' }, input: null, ...limits };
  const text = (await runToEnd(request)).stdout.toString('utf8');
  return new RegExp(String.raw`\s${own} +\* +(\d+)\s*$`, 'm').exec(text)?.[1] ?? null;
}

/** The process that has it open. Newest first, because a caller has usually just started. */
function holderOf(inode: string): number | undefined {
  const pids = readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0);
  return pids.toSorted((a, b) => b - a).find((pid) => hasOpen(pid, inode));
}

function hasOpen(pid: number, inode: string): boolean {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder).some((name) => inodeAt(`${folder}/${name}`) === inode);
  } catch {
    return false; // it has ended or belongs to another user
  }
}
