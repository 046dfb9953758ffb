// Which issues a text selects, and which token goes to which host.

import assert from 'node:assert/strict';
import { chooseGathering, parseIssueQuery } from '../../../../server/core/forge/issue-query.ts';
import { findTokenSource } from '../../../../server/core/forge/tokens.ts';

suite('words for issues', () => {
  const cases: readonly { words: readonly string[]; query: object; epic: string | null }[] = [
    { words: ['12'], query: { kind: 'numbers', numbers: [12] }, epic: null },
    {
      words: ['#12', 'https://github.com/acme/shop/issues/7'],
      query: { kind: 'numbers', numbers: [12, 7] },
      epic: null,
    },
    { words: ['12', 'apples'], query: { kind: 'search', words: '12 apples' }, epic: null },
    {
      words: ['label:good', 'first', 'issue'],
      query: { kind: 'label', label: 'good first issue' },
      epic: 'gh-label-good-first-issue',
    },
    {
      words: ['milestone:v1.0'],
      query: { kind: 'milestone', milestone: 'v1.0' },
      epic: 'gh-milestone-v1-0',
    },
    {
      words: ['author:eve', 'cart'],
      query: { kind: 'search', words: 'author:eve cart' },
      epic: null,
    },
  ];
  for (const { words, query, epic } of cases) {
    test(words.join(' '), () => {
      const read = parseIssueQuery(words);
      assert.deepEqual(read, query);
      assert.equal(chooseGathering(read)?.id ?? null, epic);
    });
  }
});

suite('the token for a host', () => {
  const github = { GH_TOKEN: 'g' };
  const own = { GH_ENTERPRISE_TOKEN: 'e' };
  const cases: readonly [string, string, Readonly<Record<string, string>>, string | null][] = [
    ['that of github.com', 'github.com', github, 'g'],
    ['no token of github.com goes elsewhere', 'github.example.com', github, null],
    ['no token of an own server goes to github.com', 'github.com', own, null],
    ['that of an own server', 'github.example.com', own, 'e'],
    ['a named server is the only one', 'evil.example', { ...own, GH_HOST: 'git.example' }, null],
    ['a named server', 'git.example', { ...own, GH_HOST: 'git.example' }, 'e'],
    ['an empty variable is none', 'github.com', { GH_TOKEN: ' ', GITHUB_TOKEN: 'h' }, 'h'],
  ];
  for (const [name, host, env, token] of cases) {
    test(name, () => {
      const source = findTokenSource(host, env);
      assert.equal(source?.kind === 'value' ? source.token : null, token);
    });
  }
});
