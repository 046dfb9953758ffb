// The gate that a repository's own files suggest.

import assert from 'node:assert/strict';
import { proposeGate } from '../../../server/core/work/gate-proposal.ts';

const node = (test: string): string => JSON.stringify({ scripts: { test } });

suite('proposal of a gate', () => {
  const cases: readonly (readonly [string, Parameters<typeof proposeGate>[0], string | null])[] = [
    ['npm', { 'package.json': node('node --test') }, 'npm test'],
    ['pnpm', { 'package.json': node('vitest'), 'pnpm-lock.yaml': '' }, 'pnpm test'],
    ['yarn', { 'package.json': node('jest'), 'yarn.lock': '' }, 'yarn test'],
    ['bun', { 'package.json': node('bun test'), 'bun.lock': '' }, 'bun run test'],
    [
      'the script that npm writes of itself is none',
      { 'package.json': node('echo "Error: no test specified" && exit 1') },
      null,
    ],
    ['a manifest that is no JSON', { 'package.json': '{', 'go.mod': 'module a' }, 'go test ./...'],
    ['a Makefile with a target', { Makefile: 'all:\n\ntest: build\n\tx\n' }, 'make test'],
    ['a Makefile without one', { Makefile: 'testing:\n\tx\ntest := 1\n' }, null],
    ['Rust', { 'Cargo.toml': '[package]' }, 'cargo test'],
    ['pytest', { 'pyproject.toml': '[tool.pytest.ini_options]' }, 'pytest'],
    ['Python without pytest', { 'pyproject.toml': '[project]' }, null],
    ['Gradle before Maven', { gradlew: '', 'pom.xml': '' }, './gradlew test'],
    ['nothing', {}, null],
  ];
  for (const [name, texts, command] of cases) {
    test(name, () => assert.equal(proposeGate(texts)?.command ?? null, command));
  }
});
