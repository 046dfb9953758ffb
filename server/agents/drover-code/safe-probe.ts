// Detects how a Drover Code binary uses pipes. The binary runs without a workspace, a key or a
// network, so it can do no harm.

import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentProcess, ProcessTable } from '../port.ts';
import { runMarker, startTimeOfNewChild } from '../kit/process/process-list.ts';
import { encodeFrame } from './frame-codec.ts';
import { probeEnvironment } from './invocation.ts';
import { thisPlatform } from '../../platform/this-platform.ts';

export type BinaryKind = 'missing' | 'headless-only' | 'bridge';

const probeMs = 5_000;
const keptMax = 32;
/**
 * The kind of each binary, by its path, size and modification time, so that an update is probed
 * again.
 */
const known = new Map<string, Promise<BinaryKind>>();

export async function binaryKind(
  program: string,
  path: string,
  processTable: ProcessTable,
): Promise<BinaryKind> {
  const stat = statSync(program, { bigint: true, throwIfNoEntry: false });
  if (stat === undefined || !stat.isFile()) return 'missing';
  const key = `${program}\n${stat.size}\n${stat.mtimeNs}`;
  const before = known.get(key);
  if (before !== undefined) return await before;
  const first = known.keys().next().value;
  if (known.size >= keptMax && first !== undefined) known.delete(first);
  const probing = probe(program, path, processTable);
  known.set(key, probing);
  try {
    return await probing;
  } catch (error) {
    known.delete(key);
    throw error;
  }
}

async function probe(
  program: string,
  path: string,
  processTable: ProcessTable,
): Promise<BinaryKind> {
  const folder = mkdtempSync(join(tmpdir(), 'drover-probe-'));
  const [cwd, home] = [join(folder, 'empty'), join(folder, 'home')];
  for (const one of [cwd, home]) mkdirSync(one);
  const runId = `probe-${randomUUID()}/1/1`;
  try {
    const child = spawn(program, [], {
      cwd,
      env: { ...probeEnvironment(path, home), [runMarker]: runId },
      stdio: ['pipe', 'pipe', 'ignore'],
      detached: thisPlatform.hasProcessGroups,
    });
    const started: AgentProcess | null =
      child.pid === undefined
        ? null
        : { pid: child.pid, startTime: startTimeOfNewChild(child.pid) };
    child.stdin.on('error', () => undefined);
    const firstByte = new Promise<string | null>((resolve) => {
      const timer = setTimeout(() => resolve(null), probeMs);
      const end = (found: string | null): void => {
        clearTimeout(timer);
        resolve(found);
      };
      child.stdout.once('data', (chunk: Buffer) => end(chunk.toString('latin1', 0, 1)));
      // Its output may still arrive after it has ended.
      child.once('close', () => end(null));
      child.once('error', () => end(null));
    });
    const frame = encodeFrame({ jsonrpc: '2.0', id: 1, method: 'initialize', params: {} });
    if (frame !== null) child.stdin.write(frame);
    const found = await firstByte;
    if (started !== null) await processTable.endTree(runId, started, 0);
    child.stdin.destroy();
    child.stdout.destroy();
    return found === 'C' ? 'bridge' : 'headless-only';
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}
