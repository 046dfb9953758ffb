// What an agent inherits, name by name, and which values count as secret.

import assert from 'node:assert/strict';
import { agentEnvironment, secretValues } from '../../../server/agents/environment.ts';
import type { AgentKind } from '../../../server/agents/port.ts';

const ours = {
  PATH: '/bin',
  HOME: '/home/u',
  LANG: 'C.UTF-8',
  LC_ALL: 'C',
  TERM: 'dumb',
  ANTHROPIC_API_KEY: 'key-a',
  OPENAI_API_KEY: 'key-o',
  AWS_SECRET_ACCESS_KEY: 'key-w',
  NODE_OPTIONS: '--inspect',
  CLAUDE_CODE_SSE_PORT: '1',
  CLAUDE_CONFIG_DIR: '/c',
  CLAUDE_CODE_MAX_RETRIES: '1',
  MY_VAR: 'm',
  HTTPS_PROXY: 'http://p',
};
const everyAgent = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM'];

function check(
  kind: AgentKind,
  expected: readonly string[],
  options: { base?: object; extra?: Record<string, string>; allow?: string[] } = {},
): void {
  const base = { ...ours, ...options.base };
  const environment = agentEnvironment(base, kind, options.extra ?? {}, options.allow ?? []);
  assert.deepEqual(Object.keys(environment).sort(), [...everyAgent, ...expected].sort());
}

suite('agent environment', () => {
  test('each kind gets its own provider and nobody else', () => {
    const claude = ['ANTHROPIC_API_KEY', 'CLAUDE_CONFIG_DIR', 'HTTPS_PROXY'];
    check('command', []);
    check('demo', []);
    check('claude', [...claude, 'CLAUDE_CODE_MAX_RETRIES']);
    check('claude', [...claude, 'CLAUDECODE'].slice(0, 3), { base: { CLAUDECODE: '1' } });
    check('codex', ['OPENAI_API_KEY', 'HTTPS_PROXY']);
  });
  test('what the settings allow or set is added, and wins', () => {
    check('command', ['MY_VAR', 'AWS_SECRET_ACCESS_KEY'], { allow: ['MY_VAR', 'AWS_*', 'ABSENT'] });
    check('command', ['EXTRA'], { extra: { EXTRA: '1' } });
    assert.equal(agentEnvironment(ours, 'command', { TERM: 'x' }, [])['TERM'], 'x');
  });
  test('secret values by the name of their variable', () => {
    assert.deepEqual(
      secretValues({
        DBOS_SYSTEM_DATABASE_URL: 'postgresql://me:p%40ss@host:1/db',
        PLAIN_URL: 'https://host/a@b',
      }),
      ['p%40ss', 'p@ss'],
    );
    assert.deepEqual(
      secretValues({ API_KEY: '1', a_token: '2', Secret: '3', PASSWORD_X: '4', PATH: '5', K: '6' }),
      ['1', '2', '3', '4'],
    );
  });
});
