// A person's own Claude Code plans and runs with `drover mcp`: three tasks with dependencies, which land. Its model is on loopback.

import assert from 'node:assert/strict';
import { droverProgram } from './support/program.ts';
import { dummyKey, says, useClaude } from './support/claude-project.ts';
import { startProgram, tail } from './support/run-program.ts';
import { useProjects } from './support/suite-projects.ts';

/** Only the model is contacted. */
const quiet = {
  CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  DISABLE_AUTOUPDATER: '1',
  DISABLE_ERROR_REPORTING: '1',
  DISABLE_TELEMETRY: '1',
};
const prompt = 'Plan the shop with drover and run it';
const task = (key: string, blockers: readonly string[] = []): object => ({
  key,
  title: `Build the ${key}`,
  description: `What is needed of the ${key}.`,
  epic: 'shop',
  accept: [`the ${key} is there`],
  ...(blockers.length === 0 ? {} : { blocked_by: blockers }),
});

suite('e2e: drover mcp in Claude Code', function () {
  this.timeout(300_000);
  const project = useProjects();
  const real = useClaude();

  test('it adds three tasks with dependencies, runs them and reads the results', async () => {
    const here = project();
    const call = (name: string, input: object): { tools: { name: string; input: object }[] } => ({
      tools: [{ name: `mcp__drover__${name}`, input }],
    });
    real.fake.setScript({
      conversations: [
        {
          name: 'plan',
          match: { prompt, hasTools: true },
          steps: [
            call('add_plan', {
              epics: [{ key: 'shop', title: 'Build the shop' }],
              tasks: [task('cart'), task('till'), task('receipt', ['cart', 'till'])],
            }),
            { ...call('run', { workers: 2 }), expect: { lastToolResult: '"tasks"' } },
            call('wait', {}),
            call('status', {}),
            { ...says('All three have landed.'), expect: { lastToolResult: '"completed"' } },
          ],
        },
      ],
    });
    const drover = { command: process.execPath, args: ['--no-warnings', droverProgram(), 'mcp'] };
    const { claude, fake } = real;
    const done = await startProgram({
      program: claude,
      args: [
        '-p',
        prompt,
        '--strict-mcp-config',
        '--mcp-config',
        JSON.stringify({ mcpServers: { drover } }),
        '--allowedTools',
        'mcp__drover',
      ],
      cwd: here.root,
      env: { ...here.env, ...quiet, ANTHROPIC_BASE_URL: fake.url, ANTHROPIC_API_KEY: dummyKey },
      timeoutMs: 120_000,
    }).ended;
    assert.equal(done.code, 0, `${tail(done.stdout)}\n${tail(done.stderr)}`);
    assert.match(done.stdout, /All three have landed/);
    const { tasks, epics } = await here.status();
    const idOf = (title: string): string => tasks.find((each) => each.title === title)?.id ?? '';
    assert.deepEqual(
      tasks.map(({ title, status }) => [title, status]),
      ['cart', 'till', 'receipt'].map((key) => [`Build the ${key}`, 'completed']),
    );
    const receipt = tasks.find(({ id }) => id === idOf('Build the receipt'));
    assert.deepEqual(
      [...(receipt?.blocked_by ?? [])].sort(),
      [idOf('Build the cart'), idOf('Build the till')].sort(),
    );
    assert.equal(epics[0]?.title, 'Build the shop');
    for (const { id } of tasks) assert.notEqual(here.git('show', `main:${id}.txt`), '', id);
  });
});
