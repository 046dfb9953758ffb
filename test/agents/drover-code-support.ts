// A run of the Drover Code driver with a double of its binary, shared by the tests of both modes.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createDroverCodeDriver } from '../../server/agents/drover-code/driver.ts';
import type { DroverCodeDeps } from '../../server/agents/drover-code/headless-run.ts';
import type { AgentOutcome, AgentRequest, AgentSettings } from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import type { DoubleCall, DoubleScript, DoubleStep } from '../doubles/drover-code.ts';
import {
  createRecordingHost,
  createTestRun,
  minimalEnvironment,
  settingsOf,
  type RecordingHost,
  type TestRun,
} from './support.ts';

const doublePath = join(import.meta.dirname, '..', 'doubles', 'drover-code.ts');
export const droverCodeKey = 'key-0123456789';

/** One line that the double prints in headless mode. */
export function event(type: string, fields: object = {}): DoubleStep {
  const text = JSON.stringify({ ...fields, ts: '2026-01-02T03:04:05.123456789Z', type });
  return { do: 'print', text: `${text}\n` };
}

export function kindOfFailure(outcome: AgentOutcome): readonly [string, boolean, string] {
  assert.ok(outcome.kind === 'failed', JSON.stringify(outcome));
  const { kind, retryable, message } = outcome.failure;
  return [kind, retryable, message];
}

export class DroverCodeRun {
  readonly run: TestRun = createTestRun();
  readonly host: RecordingHost = createRecordingHost();
  readonly program: string;
  readonly #folder: string;

  constructor(pipesReachBridge: boolean) {
    this.#folder = join(this.run.folder, 'double');
    mkdirSync(this.#folder);
    this.program = join(this.#folder, 'drover-code');
    this.install(pipesReachBridge);
  }

  install(pipesReachBridge: boolean): void {
    const own = pipesReachBridge ? 'export DOUBLE_BRIDGE_OVER_PIPES=1\n' : '';
    const start = `exec "${process.execPath}" "${doublePath}" "${this.#folder}" "$@"`;
    writeFileSync(this.program, `#!/bin/sh\n${own}${start}\n`, { mode: 0o755 });
  }

  play(script: DoubleScript): void {
    writeFileSync(join(this.#folder, 'script.json'), JSON.stringify(script));
  }

  calls(): DoubleCall[] {
    const path = join(this.#folder, 'calls.ndjson');
    if (!existsSync(path)) return [];
    const lines = readFileSync(path, 'utf8').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as DoubleCall);
  }

  /** Calls that had work to do; the probe is a call too. */
  realCalls(): DoubleCall[] {
    return this.calls().filter((call) => call.env['ANTHROPIC_API_KEY'] !== 'probe');
  }

  settings(): AgentSettings {
    return settingsOf('drover-code', { path: this.program });
  }

  request(more: Partial<AgentRequest> = {}): AgentRequest {
    const env = { ...this.run.request.env, ANTHROPIC_API_KEY: droverCodeKey, ...more.env };
    return { ...this.run.request, secrets: [droverCodeKey], ...more, env };
  }

  start(
    more: Partial<AgentRequest> = {},
    deps: Partial<DroverCodeDeps> = {},
    signal = new AbortController().signal,
    host = this.host,
  ): Promise<AgentOutcome> {
    const own = { processTable: createProcessTable(), baseDir: '/', graceMs: 500, ...deps };
    const driver = createDroverCodeDriver(this.settings(), own);
    return driver.run(this.request(more), host, signal);
  }

  git(...args: string[]): string {
    return execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], {
      cwd: this.run.cwd,
      env: { ...minimalEnvironment, HOME: join(this.run.folder, 'home') },
      stdio: 'pipe',
      encoding: 'utf8',
    });
  }

  repository(): void {
    this.git('init', '-q');
    this.git('commit', '-q', '--allow-empty', '-m', 'base');
  }

  async remove(): Promise<void> {
    await createProcessTable().endTree(this.run.request.runId, null, 0);
    this.run.remove();
  }
}
