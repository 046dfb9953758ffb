// Open pull requests on a fake GitHub, and an observer that checks them by the test's clock: the
// real store, client and rows, but only the parts of the engine that an idle check uses.

import { execFileSync } from 'node:child_process';
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ProjectForge } from '../../../server/forge-work/forge-access.ts';
import { observePulls, type ObserveDeps } from '../../../server/forge-work/observe-pulls.ts';
import { storePull } from '../../../server/store/forge/pull-requests.ts';
import { addEpic } from '../../../server/store/plan/epics.ts';
import {
  type FakeGithub,
  type FakeGithubOptions,
  startFakeGithub,
} from '../../doubles/fake-github/fake-github.ts';
import { openPull } from '../../doubles/fake-github/pulls.ts';
import { removeFolder } from '../../remove-folder.ts';
import { tablesOf } from '../../tables.ts';
import { memoryStore, type TestStore } from '../../unit/store/memory-store.ts';

export const slug = 'acme/shop';
const token = 'ghp_dummy0123456789';
const lookMs = 60_000;

export interface WatchedPulls {
  readonly fake: FakeGithub;
  readonly store: TestStore['store'];
  /** Of the pull requests, in order. */
  readonly heads: readonly string[];
  /** The project's token from the next time that it is read. */
  setToken(token: string): void;
  /** Checks this many times, one minute apart. Resolves with the requests that counted. */
  look(times: number): Promise<readonly string[]>;
  notes(): Promise<readonly (string | null)[]>;
  close(): Promise<void>;
}

export async function watchPulls(
  count: number,
  { merge = 'person', ...options }: FakeGithubOptions & { readonly merge?: 'person' | 'auto' } = {},
): Promise<WatchedPulls> {
  const fake = await startFakeGithub({ token, ...options });
  const root = mkdtempSync(join(tmpdir(), 'drover-watch-'));
  const project = await memoryStore();
  const { store, sources } = project;
  fake.git.create(slug);
  fake.git.commit(slug, 'main', 'README.md', 'shop\n');
  execFileSync('git', ['init', '-q', root]);
  execFileSync('git', ['-C', root, 'remote', 'add', 'origin', `${fake.url}${slug}.git`]);
  const heads: string[] = [];
  for (let at = 0; at < count; at += 1) heads.push(await addPull(fake, project, at));
  let environment = { PATH: process.env['PATH'] ?? '', GH_ENTERPRISE_TOKEN: token };
  const live = {
    get environment() {
      return environment;
    },
  };
  const places = { root };
  const forge = new ProjectForge({ store, places, live } as unknown as ConstructorParameters<
    typeof ProjectForge
  >[0]);
  const engine = {
    store,
    clock: sources.clock,
    mask: (text: string) => text,
    settings: () => ({ forge: { merge } }),
    durable: { get: async () => null },
  } as unknown as ObserveDeps['engine'];
  return {
    fake,
    store,
    heads,
    setToken: (next) => {
      environment = { ...environment, GH_ENTERPRISE_TOKEN: next };
    },
    look: async (times) => {
      const before = fake.counted.length;
      for (let at = 0; at < times; at += 1) {
        await observePulls({ engine, project: forge, quietMs: 0, bots: [] }, () => false);
        sources.nowMs += lookMs;
      }
      return fake.counted.slice(before);
    },
    notes: async () => {
      const rows = await tablesOf(store.db).selectFrom('forge_items').select('note').execute();
      return rows.map(({ note }) => note);
    },
    close: async () => {
      await project.close();
      await fake.close();
      removeFolder(root);
    },
  };
}

async function addPull(fake: FakeGithub, project: TestStore, at: number): Promise<string> {
  const { store, sources } = project;
  const epic = await store.transaction((tx) => addEpic(tx, sources, { title: `Epic ${at}` }));
  const branch = `drover/${epic.id}`;
  const base = fake.git.tip(slug, 'main') ?? '';
  fake.git.git(slug, 'branch', branch, 'main');
  const head = fake.git.commit(slug, branch, `${at}.txt`, 'work\n');
  fake.pulls.push(openPull({ slug, number: 41 + at, head: branch }));
  fake.checks.set(head, [{ name: 'unit', state: 'success' }]);
  const run = {
    id: `run-${at}`,
    state: 'finished' as const,
    epic_id: epic.id,
    land: 'pr' as const,
  };
  const lines = { target_branch: 'main', line: `drover/epic/${epic.id}`, base_sha: base };
  await store.transaction(async (tx) => {
    const times = { started_at_ms: sources.nowMs, ended_at_ms: sources.nowMs };
    await tablesOf(tx)
      .insertInto('runs')
      .values({ ...run, ...lines, ...times, workers: 1, flags: '{}' })
      .execute();
    await storePull(tx, {
      provider: 'github',
      host: '127.0.0.1',
      native_id: `PR_${41 + at}`,
      slug,
      number: 41 + at,
      url: `${fake.url}${slug}/pull/${41 + at}`,
      epic_id: epic.id,
      run_id: run.id,
      branch,
      base: 'main',
      head_sha: head,
      tested_tree: head,
      state: 'open',
      note: null,
      created_at_ms: sources.nowMs,
    });
  });
  return head;
}
