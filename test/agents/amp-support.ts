// A run of the Amp driver with a double of its binary.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAmpDriver } from '../../server/agents/amp/driver.ts';
import type { AmpDeps } from '../../server/agents/amp/run.ts';
import type { AgentOutcome, AgentRequest, AgentSettings } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import type { AmpCall, AmpScript } from '../doubles/amp.ts';
import {
  createRecordingHost,
  createTestRun,
  settingsOf,
  type RecordingHost,
  type TestRun,
} from './support.ts';

const doublePath = join(import.meta.dirname, '..', 'doubles', 'amp.ts');
export const ampKey = 'sgamp-0123456789';

/** Writes the double as a program, with a separate folder for its script and its calls. */
export function installAmp(folder: string): string {
  mkdirSync(folder, { recursive: true });
  const program = join(folder, 'amp');
  const start = `exec "${process.execPath}" --no-warnings "${doublePath}" "${folder}" "$@"`;
  writeFileSync(program, `#!/bin/sh\n${start}\n`, { mode: 0o755 });
  return program;
}

export function failureOf(outcome: AgentOutcome): readonly [string, boolean, string] {
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
  const { kind, retryable, message } = outcome.failure;
  return [kind, retryable, message];
}

export class AmpBench {
  readonly run: TestRun = createTestRun();
  readonly host: RecordingHost = createRecordingHost();
  readonly folder = join(this.run.folder, 'double');
  readonly program = installAmp(this.folder);

  /** One script per process; the last one applies to all later processes. */
  play(...scripts: AmpScript[]): void {
    writeFileSync(join(this.folder, 'script.json'), JSON.stringify(scripts));
  }

  calls(): AmpCall[] {
    const path = join(this.folder, 'calls.ndjson');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as AmpCall);
  }

  threads(): Record<string, { archived: boolean; messages: string[] }> {
    return JSON.parse(readFileSync(join(this.folder, 'threads.json'), 'utf8')) as never;
  }

  forgetThreads(): void {
    writeFileSync(join(this.folder, 'threads.json'), '{}');
  }

  settings(more: Partial<AgentSettings> = {}): AgentSettings {
    return settingsOf('amp', { path: this.program, ...more });
  }

  request(more: Partial<AgentRequest> = {}): AgentRequest {
    const env = { ...this.run.request.env, AMP_API_KEY: ampKey, ...more.env };
    return { ...this.run.request, secrets: [ampKey], ...more, env };
  }

  driver(settings: Partial<AgentSettings> = {}, deps: Partial<AmpDeps> = {}) {
    const own = { processTable: createProcessTable(), baseDir: '/', graceMs: 500, ...deps };
    return createAmpDriver(this.settings(settings), own);
  }

  start(
    more: Partial<AgentRequest> = {},
    deps: Partial<AmpDeps> = {},
    signal = new AbortController().signal,
  ): Promise<AgentOutcome> {
    return this.driver({}, deps).run(this.request(more), this.host, signal);
  }

  async remove(): Promise<void> {
    await createProcessTable().endTree(this.run.request.runId, null, 0);
    this.run.remove();
  }
}
