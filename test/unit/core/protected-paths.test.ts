import assert from 'node:assert/strict';
import { protectedAmong, protectedByDefault } from '../../../server/core/plan/protected-paths.ts';

suite('protected paths', () => {
  function check(paths: string, patterns: readonly string[], expected: string): void {
    const found = protectedAmong(paths.split(' '), patterns);
    assert.deepEqual(found, expected === '' ? [] : expected.split(' '));
  }

  test('the defaults apply in any folder and in any case', () => {
    const guarded =
      '.drover.toml .drover/x .claude/settings.json pkg/.claude/hooks/a.sh .mcp.json a/.vscode/tasks.json .github/workflows/ci.yml .husky/pre-commit .gitattributes a/b/.gitattributes .gitmodules .lfsconfig CLAUDE.md docs/AGENTS.md Agents.md .envrc';
    check(guarded, protectedByDefault, guarded);
    check(
      'src/a.ts README.md claude/x .github/ISSUE_TEMPLATE.md workflows/ci.yml my.drover.toml AGENTS.md.txt .gitignore docs/vscode/x',
      protectedByDefault,
      '',
    );
  });

  test('a custom list has names, folders and stars', () => {
    check('deploy/a x/deploy/b deployment/c', ['deploy/'], 'deploy/a x/deploy/b');
    check('a.lock b/c.lock c.locks', ['*.lock'], 'a.lock b/c.lock');
    check('infra/prod/a.tf infra/dev/a.tf', ['infra/prod'], 'infra/prod/a.tf');
    check('a+b axb', ['a+b'], 'a+b');
    check('a b', [], '');
    check('a b', ['/', ''], '');
  });
});
