// The variables that an agent inherits, name by name, and which values count as secret.

import assert from 'node:assert/strict';
import {
  agentEnvironment,
  commandEnvironment,
  secretValues,
} from '../../../server/agents/kit/process/environment.ts';
import type { AgentKind } from '../../../server/core/plan/task.ts';

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
  JAVA_HOME: '/opt/java',
};
const everyAgent = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TERM', 'HTTPS_PROXY', 'JAVA_HOME'];

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
  test('each agent kind gets the variables of its own provider and no other', () => {
    const claude = ['ANTHROPIC_API_KEY', 'CLAUDE_CONFIG_DIR'];
    check('command', []);
    check('demo', []);
    check('claude', [...claude, 'CLAUDE_CODE_MAX_RETRIES']);
    check('claude', [...claude, 'CLAUDECODE'].slice(0, 2), { base: { CLAUDECODE: '1' } });
    check('codex', ['OPENAI_API_KEY']);
  });
  test('variables that the settings allow or set are added, and take precedence', () => {
    check('command', ['MY_VAR', 'AWS_SECRET_ACCESS_KEY'], { allow: ['MY_VAR', 'AWS_*', 'ABSENT'] });
    check('command', ['EXTRA'], { extra: { EXTRA: '1' } });
    assert.equal(agentEnvironment(ours, 'command', { TERM: 'x' }, [])['TERM'], 'x');
  });
  test('compilers and package managers work as in the shell, without their credentials', () => {
    const names =
      `GOPATH GOMODCACHE RUSTUP_HOME CARGO_HOME PYENV_ROOT PIP_CACHE_DIR PIP_INDEX_URL UV_CACHE_DIR NVM_DIR PNPM_HOME
      npm_config_cache NPM_CONFIG_REGISTRY GRADLE_USER_HOME MAVEN_OPTS DOTNET_ROOT NUGET_PACKAGES GEM_HOME RBENV_ROOT
      COMPOSER_HOME SSL_CERT_FILE REQUESTS_CA_BUNDLE all_proxy XDG_CACHE_HOME TMPDIR`.split(/\s+/);
    const tools = Object.fromEntries(names.map((name) => [name, `/x/${name}`]));
    const secret = {
      CARGO_REGISTRY_TOKEN: 'secret-1',
      PIP_EXTRA_INDEX_URL: 'https://me:secret-2@pypi.corp/simple',
      GRADLE_ENTERPRISE_ACCESS_KEY: 'secret-3',
      COMPOSER_AUTH: '{"http-basic": {}}',
      npm_config__authToken: 'secret-4',
      npm_lifecycle_event: 'start',
      SSH_AUTH_SOCK: '/run/agent',
    };
    check('command', names, { base: { ...tools, ...secret } });
    const gate = commandEnvironment({ ...ours, ...tools, ...secret }, ['AWS_*']);
    const seen = [...everyAgent, ...names, 'AWS_SECRET_ACCESS_KEY', 'CI'];
    assert.deepEqual(Object.keys(gate).sort(), seen.sort());
  });
  test("gates and setups run as in CI, unless the user's own variable says otherwise", () => {
    assert.equal(commandEnvironment(ours, [])['CI'], 'true');
    assert.equal(commandEnvironment({ ...ours, CI: 'false' }, [])['CI'], 'false');
    assert.equal(agentEnvironment(ours, 'command', {}, [])['CI'], undefined);
  });
  test('secret values are recognized by the names of their variables', () => {
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
