// Proof that the client and the fake are realistic: octokit also works with our fake, and both
// clients work with `emulate`, a third-party GitHub.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import type { Issue } from '../../server/core/forge/issue.ts';
import { ForgeClient } from '../../server/forge/client.ts';
import { GithubIssues } from '../../server/forge/github-issues.ts';
import { GithubPulls } from '../../server/forge/github-pulls.ts';
import { startFakeGithub } from '../doubles/fake-github/fake-github.ts';
import { freePort } from '../free-port.ts';

interface Octokit {
  request(
    route: string,
    values?: object,
  ): Promise<{ readonly status: number; readonly data: unknown }>;
}
interface OctokitModule {
  readonly Octokit: new (options: object) => Octokit;
}
interface EmulateModule {
  readonly createEmulator: (
    options: object,
  ) => Promise<{ readonly url: string; close(): Promise<void> }>;
}

const require = createRequire(new URL('schemas/package.json', import.meta.url));
const repository = { owner: 'lead', name: 'shop' };
const slug = 'lead/shop';
const place = { owner: 'lead', repo: 'shop' };
const token = 'dummy0123456789';
const marker = '<!-- drover:report -->';

interface Server {
  /** REST, with a trailing slash. */
  readonly api: string;
  /** A branch with its own commit. */
  branch(octokit: Octokit, name: string): Promise<void>;
  close(): Promise<void>;
}

const servers: readonly { readonly name: string; readonly start: () => Promise<Server> }[] = [
  {
    name: 'the fake',
    start: async () => {
      const fake = await startFakeGithub({ token });
      fake.git.create(slug);
      fake.git.commit(slug, 'main', 'README.md', 'A shop.\n');
      for (const number of [1, 2, 3]) {
        const labels = number === 3 ? [] : ['drover'];
        fake.issues.push({ slug, number, title: `Issue ${number}`, body: 'Text.', labels });
      }
      return {
        api: `${fake.url}api/v3/`,
        branch: async (_octokit, name) => {
          fake.git.git(slug, 'branch', name, 'main');
          fake.git.commit(slug, name, 'shoes.txt', 'Shoes.\n');
        },
        close: async () => {
          await fake.close();
          assert.deepEqual(fake.faults, [], 'a request or an answer is not as GitHub describes it');
        },
      };
    },
  },
  {
    name: 'emulate',
    start: async () => {
      const module = new URL('schemas/node_modules/emulate/dist/api.js', import.meta.url);
      const { createEmulator } = (await import(module.href)) as EmulateModule;
      const emulator = await createEmulator({
        service: 'github',
        port: await freePort(),
        seed: {
          tokens: { [token]: { login: 'lead', scopes: ['repo'] } },
          github: {
            users: [{ login: 'lead' }],
            repos: [{ owner: 'lead', name: 'shop', auto_init: true }],
          },
        },
      });
      const api = `${emulator.url}/`;
      const octokit = octokitOf(api);
      for (const number of [1, 2, 3]) {
        const labels = number === 3 ? [] : ['drover'];
        const issue = { ...place, title: `Issue ${number}`, body: 'Text.', labels };
        await octokit.request('POST /repos/{owner}/{repo}/issues', issue);
      }
      return {
        api,
        branch: async (client, name) => {
          const main = await client.request('GET /repos/{owner}/{repo}/git/ref/{ref}', {
            ...place,
            ref: 'heads/main',
          });
          const { object } = main.data as { readonly object: { readonly sha: string } };
          await client.request('POST /repos/{owner}/{repo}/git/refs', {
            ...place,
            ref: `refs/heads/${name}`,
            sha: object.sha,
          });
          await client.request('PUT /repos/{owner}/{repo}/contents/{path}', {
            ...place,
            path: 'shoes.txt',
            message: 'Add shoes',
            content: Buffer.from('Shoes.\n').toString('base64'),
            branch: name,
          });
        },
        close: () => emulator.close(),
      };
    },
  },
];

function octokitOf(api: string): Octokit {
  const { Octokit: Client } = require('octokit') as OctokitModule;
  const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };
  return new Client({ auth: token, baseUrl: api.slice(0, -1), log, retry: { enabled: false } });
}

function namesOf(issues: readonly Pick<Issue, 'number' | 'title'>[]): readonly string[] {
  return issues.map(({ number, title }) => `${number} ${title}`).toSorted();
}

for (const { name, start } of servers) {
  suite(`two clients on ${name}`, function () {
    this.timeout(60_000);
    let server: Server;
    let octokit: Octokit;
    let client: ForgeClient;
    setup(async () => {
      server = await start();
      octokit = octokitOf(server.api);
      client = new ForgeClient({ baseUrl: server.api, token, nowMs: Date.now });
    });
    teardown(() => server.close());

    test('both read the same issues by their label', async () => {
      const ours = await new GithubIssues(client, repository).issues({
        kind: 'label',
        label: 'drover',
      });
      assert.equal(ours.kind, 'facts');
      const theirs = await octokit.request('GET /repos/{owner}/{repo}/issues', {
        ...place,
        labels: 'drover',
      });
      const found = theirs.data as readonly { readonly number: number; readonly title: string }[];
      const names = ours.kind === 'facts' ? namesOf(ours.value) : [];
      assert.deepEqual(names, ['1 Issue 1', '2 Issue 2']);
      assert.deepEqual(namesOf(found), names);
    });

    test('the other client sees the comment, the claim and the closing that ours made', async () => {
      const tracker = new GithubIssues(client, repository);
      const issue = { slug, number: 1 };
      for (const body of [`One ${marker}`, `Two ${marker}`, `Two ${marker}`]) {
        assert.deepEqual(await tracker.keepComment(issue, marker, body), {
          kind: 'facts',
          value: null,
        });
      }
      const login = await tracker.login();
      assert.equal(login.kind, 'facts');
      const claimant = {
        label: 'drover-taken:one',
        login: login.kind === 'facts' ? login.value : '',
      };
      assert.deepEqual(await tracker.claim(issue, claimant), { kind: 'facts', value: true });
      const later = { ...claimant, label: 'drover-taken:two' };
      assert.deepEqual(await tracker.claim(issue, later), { kind: 'facts', value: false });
      assert.deepEqual(await tracker.close(issue), { kind: 'facts', value: null });
      const at = { ...place, issue_number: 1 };
      const said = await octokit.request(
        'GET /repos/{owner}/{repo}/issues/{issue_number}/comments',
        at,
      );
      const comments = said.data as readonly { readonly body: string }[];
      assert.deepEqual(
        comments.map(({ body }) => body),
        [`Two ${marker}`],
      );
      const read = await octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', at);
      const { state, labels } = read.data as {
        readonly state: string;
        readonly labels: readonly { readonly name: string }[];
      };
      assert.equal(state, 'closed');
      assert.deepEqual(labels.map((each) => each.name).toSorted(), ['drover', 'drover-taken:one']);
    });

    test('each client reads the pull request that the other opened', async () => {
      const forge = new GithubPulls(client, repository);
      await server.branch(octokit, 'drover/E1');
      await server.branch(octokit, 'by-octokit');
      const made = await forge.open({
        head: 'drover/E1',
        base: 'main',
        title: 'Sell shoes',
        body: 'By ours.',
        isDraft: true,
      });
      assert.equal(made.kind, 'facts', JSON.stringify(made));
      const number = made.kind === 'facts' ? made.value.number : 0;
      const at = { ...place, pull_number: number };
      const read = await octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', at);
      const pull = read.data as { readonly title: string; readonly draft: boolean };
      assert.deepEqual([pull.title, pull.draft], ['Sell shoes', true]);
      const edited = await forge.edit(number, { body: 'Edited by ours.' });
      assert.equal(edited.kind === 'facts' ? edited.value.body : '', 'Edited by ours.');
      const found = await forge.find('drover/E1');
      assert.equal(found.kind === 'facts' ? found.value?.number : null, number);

      const theirs = await octokit.request('POST /repos/{owner}/{repo}/pulls', {
        ...place,
        head: 'by-octokit',
        base: 'main',
        title: 'Sell hats',
        body: 'By octokit.',
      });
      const other = (theirs.data as { readonly number: number }).number;
      const ours = await forge.read(other);
      assert.equal(ours.kind === 'facts' ? ours.value.body : '', 'By octokit.');
      assert.equal(ours.kind === 'facts' ? ours.value.state : '', 'open');
      const checks = await forge.checks(ours.kind === 'facts' ? ours.value.head : '');
      assert.deepEqual(checks.kind === 'facts' ? checks.value : checks, []);
    });

    test('both clients report a refusal with the same sentence', async () => {
      const missing = await new GithubIssues(client, repository).issues({
        kind: 'numbers',
        numbers: [77],
      });
      assert.equal(missing.kind === 'unreadable' ? missing.cause : missing.kind, 'absent');
      const at = { ...place, issue_number: 77 };
      const refused = octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', at);
      await assert.rejects(refused, (error: { readonly status?: number }) => error.status === 404);
    });
  });
}
