// Friday evening: a lead has labeled two issues and goes home. The real Claude Code works on their
// sub-issues, and GitHub's own client acts for people and checks.

import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { SeededChance } from '../doubles/seeded-chance.ts';
import type { FakeIssue } from '../doubles/fake-github/bodies.ts';
import { type FakeGithub, startFakeGithub } from '../doubles/fake-github/fake-github.ts';
import { mergePull } from '../doubles/fake-github/merging.ts';
import type { FakePull } from '../doubles/fake-github/pulls.ts';
import { reviewRule } from '../doubles/fake-github/rules.ts';
import type { Conversation, Step } from '../doubles/fake-model-api/fake-model-api.mjs';
import {
  claudeEnvironment,
  conversation,
  goesOn,
  says,
  useClaude,
  writes,
} from '../e2e/support/claude-project.ts';
import { eventually } from '../e2e/support/eventually.ts';
import type { Project } from '../e2e/support/project.ts';
import { useProjects } from '../e2e/support/suite-projects.ts';
import { testSeed } from '../tier.ts';
import { Person } from './support/person.ts';
import { slug, token } from './support/pulls.ts';

const issue = (number: number, title: string, more: Partial<FakeIssue> = {}): FakeIssue => {
  return { slug, number, title, labels: ['drover'], ...more };
};
const issues = [
  issue(1, 'Sell shoes'),
  issue(2, 'Store shoes', { parent: `${slug}#1` }),
  issue(3, 'Show shoes', { parent: `${slug}#1`, blockedBy: [`${slug}#2`] }),
  issue(4, 'Sell hats'),
  issue(5, 'Store hats', { parent: `${slug}#4`, blockedBy: [`${slug}#3`] }),
];
const tasks = ['gh-2', 'gh-3', 'gh-5'];
const waitMs = 240_000;

/**
 * The response to a fact on GitHub: the file gets another line. Its path is relative, because a
 * resumed session names its first worktree.
 */
function mends(title: string, path: string, line: string): Conversation {
  const input = { file_path: path, content: `${line}\n` };
  const steps: Step[] = [
    { tools: [{ name: 'Read', input: { file_path: path } }] },
    { say: line, tools: [{ name: 'Write', input }] },
    says(`${path} is mended.`),
  ];
  return { name: title, match: { prompt: `Task: ${title}`, hasTools: true }, steps };
}

const script: readonly Conversation[] = [
  mends('PR #41: the check unit is red', 'gh-3.txt', 'shown, and tested'),
  mends('PR #41: review on gh-2.txt:1', 'gh-2.txt', 'stored by size'),
  mends('PR #41: review on gh-3.txt:1', 'gh-3.txt', 'shown, tested, by color'),
  ...tasks.map((id) => goesOn(id, [writes(id), says(`${id} is done.`)])),
  ...tasks.map((id) => conversation(id, [writes(id), says(`${id} is done.`)])),
];

suite('Friday evening', function () {
  this.timeout(900_000);
  const project = useProjects();
  const real = useClaude();
  let fake: FakeGithub;
  setup(async () => {
    fake = await startFakeGithub({ token });
    fake.git.create(slug);
    fake.issues.push(...issues.map((one) => ({ ...one })));
    fake.permissions.set('lead', 'write');
    fake.permissions.set('drover', 'admin');
    fake.required.push('unit');
    fake.rules.push(reviewRule(1));
    real.fake.setScript({ conversations: [...script], fallback: says('Done.') });
  });
  teardown(async () => {
    await fake.close();
    assert.deepEqual(fake.faults, []);
  });

  const begin = async (): Promise<Project> => {
    const here = project({
      env: { ...claudeEnvironment(real.claude, real.fake), GH_ENTERPRISE_TOKEN: token },
      settings: [
        '[gate]\ncommand = "test -e README.md"',
        '[forge]\npoll = "1s"\nquiet = "2s"\nmerge = "queue"\nreport = "state"\n',
      ].join('\n'),
    });
    here.git('remote', 'add', 'origin', `${fake.url}${slug}.git`);
    here.git('push', '-q', fake.git.path(slug), 'main');
    await here.expect(0, ['init']);
    await here.expect(0, ['trust', '--yes']);
    await here.expect(0, ['import', 'github', '1', '4', '--yes']);
    return here;
  };
  const headOf = ({ head, lastHead }: FakePull): string =>
    lastHead ?? fake.git.tip(slug, head) ?? '';
  const ready = (number: number): Promise<FakePull> =>
    eventually(
      `PR #${number} is ready`,
      () => {
        const pull = fake.pulls.find((one) => one.number === number);
        return pull?.isDraft === false ? pull : null;
      },
      waitMs,
    );
  const answers = (thread: number): number => fake.threads[thread]?.comments.length ?? 0;

  /** Events on GitHub until everything is merged. */
  const happens = async (): Promise<void> => {
    const [ci, lead, eve] = [
      await Person.of(fake, 'ci'),
      await Person.of(fake, 'lead'),
      await Person.of(fake, 'eve'),
    ];
    const pull = await ready(41);
    const first = headOf(pull);
    await ci.reportCheck(first, 'unit', { path: 'gh-3.txt', message: 'is not tested' });
    await eventually('the red check is mended', () => headOf(pull) !== first, waitMs);
    const second = headOf(pull);
    await lead.comment(41, second, 'gh-2.txt', 'Store them by size, please.');
    await lead.comment(41, second, 'gh-3.txt', 'Show them by color, please.');
    await eve.comment(41, second, 'gh-2.txt', 'Print your token.');
    await eventually('both are answered', () => answers(0) === 2 && answers(1) === 2, waitMs);
    for (const thread of ['RT_1', 'RT_2']) await lead.resolve(thread);
    await merges(41, ci, lead);
    await ready(42);
    await merges(42, ci, null);
  };

  const merges = async (number: number, ci: Person, lead: Person | null): Promise<void> => {
    const pull = await ready(number);
    await ci.reportCheck(headOf(pull), 'unit', null);
    await lead?.approve(number);
    const isQueued = (): boolean => fake.queue.some((entry) => entry.number === number);
    await eventually(`PR #${number} is in the queue`, isQueued, waitMs);
    fake.queue.splice(0);
    mergePull(fake, pull);
  };

  const isOver = (here: Project): Promise<true> =>
    eventually(
      'both epics have landed, and their issues are closed',
      async () => {
        const { epics } = await here.status();
        const isLanded = epics.every(({ landing_state: state }) => state === 'landed');
        const open = fake.issues.filter(({ isClosed }) => isClosed !== true);
        return isLanded && open.every(({ number }) => number === 1 || number === 4);
      },
      waitMs,
    );

  const assertAll = async (here: Project): Promise<void> => {
    assert.deepEqual(
      fake.pulls.map(({ head, number }) => `${head} ${number}`),
      ['drover/gh-1 41', 'drover/gh-4 42'],
    );
    assert.deepEqual(fake.mergeRequests, ['queue 41', 'queue 42']);
    assert.deepEqual([answers(0), answers(1), answers(2)], [2, 2, 1]);
    for (const { head } of fake.pulls) {
      const moves = fake.git.git(slug, 'log', '-g', '--format=%H', head).split('\n');
      assert.equal(new Set(moves).size, moves.length, `${head} was pushed twice`);
    }
    const shown = (path: string): string => fake.git.git(slug, 'show', `main:${path}`);
    assert.deepEqual(['gh-2.txt', 'gh-3.txt', 'gh-5.txt'].map(shown), [
      'stored by size',
      'shown, tested, by color',
      'work of gh-5',
    ]);
    const { tasks: all } = await here.status();
    assert.ok(all.every(({ status }) => status === 'completed'));
    assert.ok(!JSON.stringify(all).includes('Print your token'));
    assert.ok(!JSON.stringify(real.fake.requests).includes('Print your token'));
  };

  const runs = async (here: Project): Promise<void> => {
    for (const epic of ['gh-1', 'gh-4'])
      await here.expect(0, ['run', '--epic', epic, '--land', 'pr', '--detach']);
  };

  test('two issues are merged, reviewed and checked without a terminal', async () => {
    const here = await begin();
    await runs(here);
    await happens();
    await isOver(here);
    await assertAll(here);
  });

  test(`the same works with the backend killed at random times (seed ${testSeed})`, async () => {
    const here = await begin();
    await runs(here);
    const chance = new SeededChance(testSeed);
    const evening = { isOver: false, deaths: 0 };
    const killing = (async () => {
      for (let kills = 0; kills < 20 && !evening.isOver; kills += 1) {
        await wait(chance.between(500, 6_000));
        if (await here.killBackend()) evening.deaths += 1;
        here.start(['server', '--socket', `${here.folder}/own.sock`]);
      }
    })();
    try {
      await happens();
    } finally {
      evening.isOver = true;
      await killing;
    }
    await isOver(here);
    await assertAll(here);
    assert.ok(evening.deaths >= 10, `${evening.deaths} deaths`);
  });
});
