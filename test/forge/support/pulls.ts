// An epic of two tasks in a project whose remote is a fake GitHub, and the actions of a person
// there.

import assert from 'node:assert/strict';
import { type FakeGithub, startFakeGithub } from '../../doubles/fake-github/fake-github.ts';
import type { FakePull } from '../../doubles/fake-github/pulls.ts';
import { eventually } from '../../e2e/support/eventually.ts';
import { beginPlan, type PlanRecord } from '../../e2e/support/plan.ts';
import type { Project, ProjectOptions } from '../../e2e/support/project.ts';
import { useProjects } from '../../e2e/support/suite-projects.ts';

export const slug = 'acme/shop';
export const token = 'ghp_dummy0123456789';
const epic = { id: 'E1', type: 'epic', title: 'Sell <b>shoes</b> to @everyone' } as const;
const stories = [
  { id: 'gh-2', epic_id: 'E1', title: 'Store shoes' },
  { id: 't2', epic_id: 'E1', blocked_by: ['gh-2'] },
];

export interface Pulls {
  readonly fake: FakeGithub;
  /** `settings`: lines of `[forge]`, then other tables. */
  readonly begin: (settings?: string, more?: readonly PlanRecord[]) => Promise<Project>;
  /** A project with another configuration, on the same server. */
  readonly beginWith: (options: ProjectOptions, plan: readonly PlanRecord[]) => Promise<Project>;
  /** After a run of the epic, with its pull request ready. */
  readonly opened: (settings?: string) => Promise<Project>;
  readonly isReady: () => Promise<true>;
  readonly pull: (number?: number) => FakePull;
  /** A person merges it into the pull request's base. */
  readonly merge: (how: 'merge' | 'squash' | 'rebase', number?: number) => void;
  readonly noteOf: (here: Project) => Promise<string>;
}

/** Call in a suite. */
export function usePulls(): Pulls {
  const project = useProjects();
  let fake: FakeGithub;
  setup(async () => {
    fake = await startFakeGithub({ token });
    fake.git.create(slug);
  });
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });
  const pulls: Pulls = {
    get fake() {
      return fake;
    },
    begin: (settings = '', more = []) => {
      const gate = '[gate]\ncommand = "test -e README.md"';
      const whole = `${gate}\n[forge]\npoll = "1s"\nquiet = "0s"\n${settings}`;
      return pulls.beginWith({ settings: whole }, [epic, ...stories, ...more]);
    },
    beginWith: async (options, plan) => {
      const here = project({ env: { GH_ENTERPRISE_TOKEN: token }, ...options });
      here.git('remote', 'add', 'origin', `${fake.url}${slug}.git`);
      here.git('push', '-q', fake.git.path(slug), 'main');
      await beginPlan(here, plan);
      return here;
    },
    opened: async (settings = '') => {
      const here = await pulls.begin(settings);
      await here.expect(2, ['run', '--epic', 'E1', '--land', 'pr']);
      await pulls.isReady();
      return here;
    },
    isReady: () =>
      eventually('the pull request is ready', () => fake.pulls.at(-1)?.isDraft === false),
    pull: (number = 41) =>
      fake.pulls.find((one) => one.number === number) ?? assert.fail(`no pull request ${number}`),
    merge: (how, number = 41) => {
      const pull = pulls.pull(number);
      const head = fake.git.tip(slug, pull.head) ?? '';
      const mergeCommit = fake.git.merge(slug, pull.base, head, how);
      Object.assign(pull, { state: 'closed', lastHead: head, mergeCommit });
    },
    noteOf: async (here) => (await here.status()).epics[0]?.landing_note ?? '',
  };
  return pulls;
}
