// A project whose agent is the real Claude Code, with a model API on loopback: no account, no network, no money.

import assert from 'node:assert/strict';
import { ensureAgents } from '../../agents-under-test/install.mjs';
import {
  type Conversation,
  type FakeModelApi,
  keyDigest,
  startFakeModelApi,
  type Step,
} from '../../doubles/fake-model-api/fake-model-api.mjs';

export const dummyKey = 'sk-ant-dummy-0000';

export function claudeEnvironment(claude: string, fake: FakeModelApi): Record<string, string> {
  return {
    DROVER_AGENT_TYPE: 'claude',
    DROVER_AGENT_PATH: claude,
    ANTHROPIC_BASE_URL: fake.url,
    ANTHROPIC_API_KEY: dummyKey,
  };
}

export interface RealClaude {
  /** Its program. */
  readonly claude: string;
  /** Used by the running test; afterwards it checks that no other requests were made. */
  readonly fake: FakeModelApi;
}

/** Call in a suite: the real Claude Code, installed once, and a model API for each test. */
export function useClaude(): RealClaude {
  const real = {} as { claude: string; fake: FakeModelApi };
  suiteSetup(async function () {
    this.timeout(600_000);
    real.claude = (await ensureAgents()).claude;
  });
  setup(async () => {
    real.fake = await startModelApi();
  });
  teardown(async () => {
    await real.fake.close();
    assertOnlyDummy(real.fake);
  });
  return real;
}

export async function startModelApi(): Promise<FakeModelApi> {
  return await startFakeModelApi();
}

/**
 * The first prompt of a task. Other prompts also name the task, as a blocker or a neighbor, but not
 * as their own id.
 */
export function conversation(id: string, steps: Step[]): Conversation {
  return { name: id, match: { prompt: `Task id: ${id} `, hasTools: true }, steps };
}

/**
 * The prompt of an interrupted session. It takes precedence, because the first prompt is still in
 * the session.
 */
export function goesOn(id: string, steps: Step[]): Conversation {
  return {
    name: `${id} goes on`,
    match: { prompt: `Continue with ${id}:`, hasTools: true },
    steps,
  };
}

export function writes(id: string): Step {
  const input = { file_path: `{{cwd}}/${id}.txt`, content: `work of ${id}\n` };
  return { say: `I write ${id}.txt.`, tools: [{ name: 'Write', input }] };
}

export function says(text: string): Step {
  return { say: text, usage: { input: 1000, output: 50 } };
}

/**
 * Every request was an expected one with only the dummy key, and every expectation of the script
 * was met.
 */
export function assertOnlyDummy(fake: FakeModelApi): void {
  assert.deepEqual(fake.failures, []);
  assert.deepEqual(
    fake.requests.filter((request) => !request.known),
    [],
  );
  assert.ok(fake.requests.length > 0);
  for (const request of fake.requests) {
    assert.equal(request.headers['x-api-key'], keyDigest(dummyKey));
  }
}
