// The table in docs/forge.md of the permissions that each operation on GitHub needs: the fake
// GitHub performs each operation with each kind of token, and the permissions are those of its
// requests.

import { ForgeClient } from '../../server/forge/client.ts';
import { GithubIssues } from '../../server/forge/github-issues.ts';
import { GithubPulls } from '../../server/forge/github-pulls.ts';
import type { Answer } from '../../server/forge/port.ts';
import { GitRemote } from '../../server/forge/git-remote.ts';
import { type FakeGithub, startFakeGithub } from '../doubles/fake-github/fake-github.ts';
import { ownLogin } from '../doubles/fake-github/issue-writes.ts';
import { openPull } from '../doubles/fake-github/pulls.ts';
import type { TokenKind } from '../doubles/fake-github/rights.ts';

const slug = 'acme/shop';
const token = 'secret';

interface Place {
  readonly fake: FakeGithub;
  readonly pulls: GithubPulls;
  readonly issues: GithubIssues;
  readonly remote: GitRemote;
}

type Done = 'yes' | 'in part' | 'no';

interface Feature {
  readonly name: string;
  readonly does: (place: Place) => Promise<readonly Answer<unknown>[]>;
}

/** The first job of the first commit with checks. */
const job = 1_001;
const newPull = { head: 'work', base: 'main', title: 'Work', body: '', isDraft: true };

const features: readonly Feature[] = [
  {
    name: 'import issues',
    does: async ({ issues }) => [
      await issues.issues({ kind: 'numbers', numbers: [1] }),
      await issues.issues({ kind: 'milestone', milestone: '1.0' }),
    ],
  },
  {
    name: 'take an issue by its label (`intake`)',
    does: async ({ issues }) => [
      await issues.login(),
      await issues.issues({ kind: 'label', label: 'drover' }),
      await issues.claim({ slug, number: 1 }, { label: 'drover-taken:shop', login: ownLogin }),
      await issues.withdraw({ slug, number: 1 }, 'drover-taken:shop'),
    ],
  },
  {
    name: 'report on an issue, and close it',
    does: async ({ issues }) => [
      await issues.keepComment({ slug, number: 1 }, '<!-- mark -->', 'Done. <!-- mark -->'),
      await issues.close({ slug, number: 1 }),
    ],
  },
  {
    name: 'push the branch, unless git has a credential of its own',
    does: async ({ remote, fake }) => {
      const pushed = await remote.push('more', fake.git.tip(slug, 'work') ?? '', null);
      const why = 'refused';
      return pushed.ok
        ? [{ kind: 'facts', value: null }]
        : [{ kind: 'unreadable', why, cause: 'refused' }];
    },
  },
  {
    name: 'open a pull request, edit it and mark it as ready',
    does: async ({ pulls }) => [
      await pulls.find('none'),
      await pulls.open(newPull),
      await pulls.markReady('PR_41'),
    ],
  },
  { name: 'add labels', does: async ({ pulls }) => [await pulls.addLabels(40, ['drover'])] },
  { name: 'request reviews', does: async ({ pulls }) => [await pulls.requestReview(40, ['lead'])] },
  {
    name: 'see the state of a pull request, its reviews and threads',
    does: async ({ pulls }) => [
      await pulls.read(40),
      await pulls.threads({ nativeId: 'PR_40', number: 40 }),
      await pulls.mayWrite('lead'),
    ],
  },
  {
    name: 'see checks',
    does: async ({ pulls, fake }) => [await pulls.checks(fake.git.tip(slug, 'work') ?? '')],
  },
  {
    name: 'read the log of a red job',
    does: async ({ pulls }) => [await pulls.jobLog(job, [])],
  },
  { name: 'run a red job once more', does: async ({ pulls }) => [await pulls.rerun(job)] },
  {
    name: 'have GitHub merge it (`merge = "auto"` or `"queue"`)',
    does: async ({ pulls, fake }) => {
      const head = fake.git.tip(slug, 'other') ?? '';
      const request = { how: 'auto', head, method: 'MERGE' } as const;
      return [
        await pulls.merging({ nativeId: 'PR_40', number: 40 }),
        await pulls.merge('PR_40', request),
      ];
    },
  },
  { name: 'see the rules of the base', does: async ({ pulls }) => [await pulls.rules('main')] },
  { name: 'reply on a thread', does: async ({ pulls }) => [await pulls.reply('RT_1', 'Done.')] },
];

interface Tried {
  readonly needs: readonly string[];
  readonly done: Done;
}

async function tryFeature(kind: TokenKind, { does }: Feature): Promise<Tried> {
  const fake = await startFakeGithub({ token, kind });
  try {
    prepare(fake);
    const client = new ForgeClient({ baseUrl: `${fake.url}api/v3/`, token, nowMs: Date.now });
    const repository = { owner: 'acme', name: 'shop' };
    const answers = await does({
      fake,
      pulls: new GithubPulls(client, repository),
      issues: new GithubIssues(client, repository),
      remote: remoteOf(fake),
    });
    if (fake.faults.length > 0) throw new Error(fake.faults.join('\n'));
    return { needs: [...fake.needed].toSorted(), done: doneOf(answers) };
  } finally {
    await fake.close();
  }
}

function prepare(fake: FakeGithub): void {
  fake.git.create(slug);
  fake.git.commit(slug, 'main', 'README.md', 'shop\n');
  fake.git.git(slug, 'branch', 'work', 'main');
  fake.git.commit(slug, 'work', 'work.txt', 'work\n');
  fake.git.git(slug, 'branch', 'other', 'work');
  fake.issues.push({ slug, number: 1, title: 'One', milestone: '1.0', labels: ['drover'] });
  fake.base.protection = { approvals: 1 };
  const head = fake.git.tip(slug, 'other') ?? '';
  fake.checks.set(head, [{ name: 'unit', state: 'failure', log: 'exit 1\n' }]);
  fake.pulls.push(openPull({ slug, number: 40, title: 'Before', head: 'other' }));
}

/** Pushes from the fake's own folder, which has the commit. */
function remoteOf(fake: FakeGithub): GitRemote {
  const url = `${fake.url}${slug}.git`;
  const root = fake.git.path(slug);
  fake.git.git(slug, 'remote', 'add', 'origin', url);
  const env = { PATH: process.env['PATH'], HOME: root, GIT_CONFIG_NOSYSTEM: '1' };
  return new GitRemote({ root, remote: 'origin', env, access: { url, token } });
}

function doneOf(answers: readonly Answer<unknown>[]): Done {
  if (answers.some(({ kind }) => kind !== 'facts')) return 'no';
  const isWhole = answers.every((one) => one.kind === 'facts' && one.missing === undefined);
  return isWhole ? 'yes' : 'in part';
}

async function rightsTable(): Promise<string> {
  const lines = [
    'To … | permissions of a fine-grained token | a token with these | a read-only token',
    '---|---|---|---',
  ];
  for (const feature of features) {
    const { needs } = await tryFeature('classic', feature);
    const fineGrained = await tryFeature('fine_grained', feature);
    const readOnly = await tryFeature('read_only', feature);
    // Jobs of Actions are read instead of check runs.
    const all = [...new Set([...needs, ...fineGrained.needs])].toSorted();
    const words = strongest(all).map((one) => `\`${one.replace('=', ': ')}\``);
    const row = [feature.name, words.join(', '), fineGrained.done, readOnly.done];
    lines.push(row.join(' | '));
  }
  return lines.join('\n');
}

/** Write permission includes read permission. */
function strongest(needs: readonly string[]): readonly string[] {
  return needs.filter(
    (one) => !needs.includes(one.replace('=read', '=write')) || one.endsWith('=write'),
  );
}

const marks = ['<!-- rights: written by `npm run docs` -->', '<!-- end of rights -->'] as const;

/** The page with its table generated from the fake GitHub. */
export async function withForgeRights(page: string): Promise<string> {
  const [from, to] = marks.map((mark) => page.indexOf(mark)) as [number, number];
  if (from === -1 || to < from) throw new Error(`the page has no place for it: ${marks.join()}`);
  const before = page.slice(0, from + marks[0].length);
  return `${before}\n\n${await rightsTable()}\n\n${page.slice(to)}`;
}
