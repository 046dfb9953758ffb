// Support for the Claude tests: the real program, a model API on loopback, and the checks at the
// end of every test.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createDriver } from '../../server/agents/drivers.ts';
import type {
  AgentDriver,
  AgentHost,
  AgentOutcome,
  AgentRequest,
} from '../../server/agents/port.ts';
import { createProcessTable } from '../../server/agents/kit/process/process-table.ts';
import { ensureAgents } from '../agents-under-test/install.mjs';
import {
  keyDigest,
  startFakeModelApi,
  type FakeModelApi,
  type Script,
} from '../doubles/fake-model-api/fake-model-api.mjs';
import { assertNothingLeft, createTestRun, settingsOf, type TestRun } from './support.ts';

export const dummyKey = 'sk-ant-dummy-0000';

export interface StartOptions {
  readonly request?: Partial<AgentRequest>;
  readonly signal?: AbortSignal;
  readonly permissionMode?: string;
}

export interface ClaudeBench {
  readonly claude: string;
  readonly fake: FakeModelApi;
  readonly run: TestRun;
  environment(): Record<string, string>;
  driver(permissionMode?: string): AgentDriver;
  start(prompt: string, host: AgentHost, options?: StartOptions): Promise<AgentOutcome>;
  /** Installs missing programs. */
  prepare(): Promise<void>;
  open(): Promise<void>;
  /** Nothing of the run is left, and Claude Code used no other server and no other key. */
  close(): Promise<void>;
}

export function createClaudeBench(): ClaudeBench {
  let claude = '';
  let fake: FakeModelApi;
  let run: TestRun;
  const bench: ClaudeBench = {
    get claude() {
      return claude;
    },
    get fake() {
      return fake;
    },
    get run() {
      return run;
    },
    environment: () => ({
      ...run.request.env,
      ANTHROPIC_BASE_URL: fake.url,
      ANTHROPIC_API_KEY: dummyKey,
      CLAUDE_CODE_MAX_RETRIES: '1',
    }),
    driver: (permissionMode) =>
      createDriver(settingsOf('claude', { path: claude, permissionMode: permissionMode ?? null }), {
        processTable: createProcessTable(),
        baseDir: '/',
        version: '0',
      }),
    start: (prompt, host, { request, signal, permissionMode } = {}) =>
      bench
        .driver(permissionMode)
        .run(
          { ...run.request, env: bench.environment(), secrets: [dummyKey], prompt, ...request },
          host,
          signal ?? new AbortController().signal,
        ),
    prepare: async () => {
      claude = (await ensureAgents()).claude;
    },
    open: async () => {
      fake = await startFakeModelApi();
      run = createTestRun();
      execFileSync('git', ['init', '-q'], { cwd: run.cwd });
    },
    close: async () => {
      await assertNothingLeft(run.request.runId);
      await fake.close();
      run.remove();
      assert.deepEqual(fake.failures, []);
      assert.deepEqual(
        fake.requests.filter((request) => !request.known),
        [],
      );
      for (const request of fake.requests) {
        assert.equal(request.headers['x-api-key'], keyDigest(dummyKey));
      }
    },
  };
  return bench;
}

export function script(name: string): Script {
  const url = new URL(`../doubles/fake-model-api/scripts/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(url, 'utf8')) as Script;
}

/** A model's call of the Bash tool. */
export function bash(command: string): { name: string; input: unknown } {
  return { name: 'Bash', input: { command, description: 'run it' } };
}

export function failureKind(outcome: AgentOutcome): string {
  return outcome.kind === 'failed' ? outcome.failure.kind : outcome.kind;
}
