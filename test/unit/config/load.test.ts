import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type SettingsRequest } from '../../../server/config/load.ts';
import { sampleToml } from '../../../server/config/sample.ts';
import { parseSettingsText } from '../../../server/config/toml-file.ts';
import { shownSettings, resolveSettings } from '../../../server/core/settings/settings-resolve.ts';
import { removeFolder } from '../../remove-folder.ts';

suite('loading settings', () => {
  let root = '';
  setup(async () => {
    root = await mkdtemp(join(tmpdir(), 'drover-config-'));
  });
  teardown(async () => {
    removeFolder(root);
  });

  async function load(
    files: { project?: string | Uint8Array; user?: string },
    rest: Partial<SettingsRequest> = {},
  ) {
    if (files.project !== undefined) await writeFile(join(root, '.drover.toml'), files.project);
    if (files.user !== undefined) {
      await mkdir(join(root, 'home/.config/drover'), { recursive: true });
      await writeFile(join(root, 'home/.config/drover/config.toml'), files.user);
    }
    return loadSettings({
      root,
      home: join(root, 'home'),
      env: {},
      flags: {},
      needsSandbox: false,
      ...rest,
    });
  }

  test('without settings, all values are defaults and no problem is reported', async () => {
    const loaded = await load({});
    assert.deepEqual(loaded.problems, []);
    assert.deepEqual(loaded.warnings, []);
    assert.equal(loaded.settings.maxWorkers, 3);
    assert.equal(loaded.settings.agent.kind, 'claude');
    assert.equal(loaded.settings.taskTimeoutMs, 3_600_000);
    assert.deepEqual(shownSettings(loaded)['task_timeout'], { value: '60m', source: 'default' });
    assert.deepEqual(shownSettings(loaded)['agent'], { value: 'claude', source: 'default' });
  });

  test('each layer takes precedence over the one below it', async () => {
    const files = {
      project: 'max_workers = 5\nmax_attempts = 2\n',
      user: 'max_workers = 4\nmax_attempts = 9\ntask_context_count = 1\n',
    };
    const loaded = await load(files, {
      env: { DROVER_WORKERS: '6', DROVER_GATE: '' },
      flags: { max_workers: '7' },
    });
    assert.deepEqual(loaded.problems, []);
    const shown = shownSettings(loaded);
    assert.deepEqual(shown['max_workers'], { value: 7, source: 'flag' });
    assert.deepEqual(shown['max_attempts'], { value: 2, source: 'project' });
    assert.deepEqual(shown['task_context_count'], { value: 1, source: 'user' });
    assert.deepEqual(shown['gate.command'], { value: null, source: 'default' });
    const withoutFlag = await load({}, { env: { DROVER_WORKERS: '6' } });
    assert.deepEqual(shownSettings(withoutFlag)['max_workers'], { value: 6, source: 'env' });
  });

  test("single agents: settings of one file are merged with another file's", async () => {
    const files = {
      project:
        '[agent]\nfallback = ["claude:opus", { agent = "codex" }]\nfallback_wait = "0"\n' +
        '[agents.codex]\nargs = ["-c", "model=o3"]\nfallback = "gemini"\n',
      user: '[agents]\ncodex = { path = "codex-acp", args = [] }\nclaude.model = "sonnet"\n',
    };
    const loaded = await load(files, { env: { DROVER_AGENT_FALLBACK: 'demo' } });
    assert.deepEqual([loaded.problems, loaded.warnings], [[], []]);
    const { agent, agents } = loaded.settings;
    assert.deepEqual(agent.fallback, [{ agent: 'demo', model: null }]);
    assert.deepEqual([agent.fallbackAfter, agent.fallbackWaitMs], [1, 0]);
    assert.deepEqual(agents, {
      codex: {
        path: 'codex-acp',
        args: ['-c', 'model=o3'],
        fallback: [{ agent: 'gemini', model: null }],
      },
      claude: { model: 'sonnet' },
    });
    assert.equal(shownSettings(loaded)['agents']?.source, 'project');
    const fromFile = await load(files);
    assert.deepEqual(fromFile.settings.agent.fallback, [
      { agent: 'claude', model: 'opus' },
      { agent: 'codex', model: null },
    ]);
  });

  test('single agents: an invalid value is a problem, and an unknown name is a warning with its line', async () => {
    for (const project of [
      'agents = 5',
      '[agents.codex]\npath = 5',
      '[agents.codex]\nfallback = ["nobody"]',
      '[agents.codex]\nfallback = { agent = "claude" }',
      '[agent]\nfallback = "codex:o3"',
      '[agent]\nfallback = { agent = "claude" }',
    ]) {
      assert.equal((await load({ project })).problems.length, 1, project);
    }
    for (const project of ['[agents.nobody]\npath = "x"', '[agents.codex]\ncolor = "red"']) {
      const { problems, warnings } = await load({ project });
      assert.deepEqual([problems.length, warnings.length, warnings[0]?.line], [0, 1, 2], project);
    }
  });

  test('XDG_CONFIG_HOME moves the user file, and a relative path is ignored', async () => {
    await mkdir(join(root, 'xdg/drover'), { recursive: true });
    await writeFile(join(root, 'xdg/drover/config.toml'), 'max_workers = 8');
    const moved = await load({}, { env: { XDG_CONFIG_HOME: join(root, 'xdg') } });
    assert.equal(moved.settings.maxWorkers, 8);
    const relative = await load({ user: 'max_workers = 9' }, { env: { XDG_CONFIG_HOME: 'xdg' } });
    assert.equal(relative.settings.maxWorkers, 9);
  });

  test('an unreadable part is a problem that names its place', async () => {
    const latin = Buffer.concat([
      Buffer.from('a = 1\n# gr'),
      Buffer.from([0xfc]),
      Buffer.from('n'),
    ]);
    assert.match((await load({ project: latin })).problems[0]?.message ?? '', /line 2: not UTF-8/);
    await rm(join(root, '.drover.toml'));
    await mkdir(join(root, '.drover.toml'));
    const folder = await load({});
    assert.equal(folder.problems.length, 1);
    assert.match(folder.problems[0]?.message ?? '', /^\.drover\.toml is a folder/);
  });

  test('templates are read however their tables are written', async () => {
    const written = [
      '[templates.bug]\ntitle = "T"\nplan = true\n[templates.b]\n',
      '[templates]\nb = {}\nbug = { title = "T", plan = true }\n',
      'templates.bug.title = "T"\ntemplates.bug.plan = true\ntemplates.b = {}\n',
      'templates = { bug = { title = "T", plan = true }, b = {} }\n',
    ];
    for (const project of written) {
      const loaded = await load({ project });
      assert.deepEqual([loaded.problems, loaded.warnings], [[], []], project);
      assert.deepEqual(loaded.settings.templates, { bug: { title: 'T', plan: true }, b: {} });
    }
    for (const project of ['templates = 5\n', '[templates]\nbug = 5\n', '[[templates.bug]]\n']) {
      assert.equal((await load({ project })).problems.length, 1, project);
    }
  });

  for (const prefix of [
    'feature/',
    'drover',
    '/drover/',
    '-drover/',
    'a..drover/',
    'x/.drover/',
    'drover.lock/',
    'drover ü/',
    '',
  ]) {
    test(`an invalid prefix of Drover's branches: ${JSON.stringify(prefix)}`, async () => {
      const { problems } = await load({ project: `[fleet]\nbranch_prefix = "${prefix}"\n` });
      assert.match(
        problems[0]?.message ?? '',
        /`fleet.branch_prefix` .*contains "drover" and ends with/,
      );
    });
  }

  test('a machine of a fleet has its own name and labels, by default the host and max_workers', async () => {
    const plain = await load({ project: 'max_workers = 5\n' });
    const { name, ...rest } = plain.settings.fleet;
    assert.deepEqual(rest, {
      remote: 'origin',
      branchPrefix: 'drover/',
      labels: [],
      agents: 5,
      lands: null,
      takeOverAfterMs: 15_000,
    });
    assert.match(name, /^[^\s,]+$/);
    const files = {
      project:
        '[fleet]\nremote = "team"\nbranch_prefix = "feature/drover-"\ntake_over_after = "1m"\n',
      user: '[fleet]\nname = "atlas"\nlabels = ["gpu", "gpu"]\nagents = 0\nlands = true\n',
    };
    const said = (await load(files)).settings.fleet;
    const all = { remote: 'team', name: 'atlas', labels: ['gpu'], agents: 0, lands: true };
    const project = { branchPrefix: 'feature/drover-', takeOverAfterMs: 60_000 };
    assert.deepEqual(said, { ...all, ...project });
    const env = { DROVER_LABELS: 'gpu, os=linux', DROVER_MACHINE_NAME: 'hera' };
    const flags = { 'fleet.labels': ['big'], 'fleet.agents': '2' };
    const given = await load(files, { env, flags });
    assert.deepEqual([given.settings.fleet.labels, given.settings.fleet.name], [['big'], 'hera']);
    assert.equal(given.settings.fleet.agents, 2);
    assert.deepEqual((await load(files, { env })).settings.fleet.labels, ['gpu', 'os=linux']);
    const wrong = await load({}, { flags: { 'fleet.labels': ['a b'], 'fleet.agents': 'many' } });
    assert.deepEqual(
      wrong.problems.map((problem) => problem.message.slice(0, 30)),
      ['--label: `fleet.labels` is a l', '--agents: `fleet.agents` is `m'],
    );
  });

  test('a policy that requires the sandbox overrides every file, variable and flag', async () => {
    const off = '[sandbox]\nrequired = false\n';
    const flags = { 'sandbox.required': 'false' };
    const { settings, values } = await load(
      { project: off, user: off },
      { flags, needsSandbox: true },
    );
    assert.equal(settings.sandbox.required, true);
    assert.equal(values['sandbox.required'].source, 'policy');
  });

  test('worktree_root is resolved against the project or the home', async () => {
    const at = async (text: string) =>
      (await load({ project: `worktree_root = "${text}"` })).settings.worktreeRoot;
    assert.equal(await at('../trees'), join(root, '../trees'));
    assert.equal(await at('~/trees'), join(root, 'home/trees'));
    assert.equal(await at('/trees'), '/trees');
  });

  test("the gate keeps cargo's folder, or the listed ones", async () => {
    const keepOf = async (project: string) => (await load({ project })).settings.gate.keep;
    assert.deepEqual(await keepOf(''), ['target']);
    assert.deepEqual(await keepOf('[gate]\nkeep = []'), []);
    assert.deepEqual(await keepOf('[gate]\nkeep = [".next/cache"]'), ['.next/cache']);
  });

  test("the gate's required machine labels are read", async () => {
    const needsOf = async (project: string) => (await load({ project })).settings.gate.needs;
    assert.deepEqual(await needsOf(''), []);
    assert.deepEqual(await needsOf('[gate]\nneeds = ["gpu", "os=linux"]'), ['gpu', 'os=linux']);
  });

  test("S5: worktree_root in the user's own file gives each project its own folder", async () => {
    const at = async (folder: string) => {
      const user = 'worktree_root = "/trees"';
      return (await load({ user }, { root: join(root, folder) })).settings.worktreeRoot ?? '';
    };
    const [first, second] = [await at('one/app'), await at('two/app')];
    assert.match(first, /^\/trees\/app-[0-9a-f]{10}$/);
    assert.match(second, /^\/trees\/app-[0-9a-f]{10}$/);
    assert.notEqual(first, second);
    assert.equal(await at('one/app'), first);
  });

  test('a database address must be sqlite:/// with an absolute path', async () => {
    const at = (text: string) => load({}, { env: { DROVER_DATABASE_URL: text } });
    assert.equal((await at('sqlite:///data/drover.db')).settings.databasePath, '/data/drover.db');
    for (const bad of ['postgres://x/y', 'sqlite://x/y', 'data.db', 'sqlite:///', 'sqlite:////x']) {
      const loaded = await at(bad);
      const wanted = `DROVER_DATABASE_URL: \`database\` is \`${bad}\`; expected sqlite:///absolute/path.`;
      assert.deepEqual(
        loaded.problems.map((problem) => problem.message),
        [wanted],
      );
    }
    const fleet = await load({}, { env: { DBOS_SYSTEM_DATABASE_URL: 'mysql://u:geheim@h/d' } });
    assert.doesNotMatch(JSON.stringify(fleet.problems), /geheim/);
    assert.equal(fleet.problems.length, 1);
  });
});

suite('.drover.toml', () => {
  function resolve(text: string) {
    const file = parseSettingsText(text, '.drover.toml');
    const loaded = resolveSettings([{ source: 'project', entries: file.entries }]);
    return { ...loaded, problems: [...file.problems, ...loaded.problems] };
  }
  function check(text: string, problems: readonly RegExp[], warnings: readonly RegExp[] = []) {
    const loaded = resolve(text);
    const pairs = [
      [loaded.problems, problems],
      [loaded.warnings, warnings],
    ] as const;
    for (const [notes, wanted] of pairs) {
      assert.equal(notes.length, wanted.length, `${text}: ${JSON.stringify(notes)}`);
      for (const [index, pattern] of wanted.entries()) {
        assert.match(notes[index]?.message ?? '', pattern, text);
      }
    }
  }

  test('problems and warnings name line and key', () => {
    const cases: readonly [string, readonly RegExp[], (readonly RegExp[])?][] = [
      ['', []],
      ['\uFEFFmax_workers = 2', []],
      ['\n\nmax_workers = 0', [/line 3: `max_workers` is 0; expected a whole number from 1 to 64/]],
      ['max_workers = "4"', [/line 1: `max_workers` is `4`; expected a whole number/]],
      ['max_workers = 2.5', [/`max_workers` is 2.5/]],
      ['max_workers = []', [/`max_workers` is a list/]],
      ['max_workers = { a = 1 }', [/`max_workers` is a table/]],
      ['task_timeout = "90"', [/`task_timeout` is `90`; expected a duration from 1s to 24h/]],
      ['task_timeout = 90', [/`task_timeout` is 90; expected a duration/]],
      ['task_timeout = "25h"', [/`task_timeout` is `25h`/]],
      ['max_output_size = "10XB"', [/`max_output_size` is `10XB`; expected a size/]],
      ['agent = "cluade"', [/line 1: `agent` is `cluade`; expected one of claude, drover-code/]],
      ['agent = 3', [/`agent` is 3/]],
      ['[gate]\ncommand = 1', [/line 2: `gate.command` is 1; expected a string/]],
      ['gate = "npm test"', [/line 1: `gate` is a value; use a table: \[gate\]/]],
      ['[[gate]]\ncommand = "x"', [/`gate` is a list of tables/]],
      ['[max_workers]\nx = 1', [/`max_workers` is a table; expected a whole number/]],
      ['[setup]\ncopy = ["../x"]', [/`setup.copy` is a list; expected a list of paths inside/]],
      ['env_allow = ["A B"]', [/`env_allow` is a list; expected a list of names/]],
      ['[agent.env]\nA = 1', [/line 1: `agent.env` has a wrong value; expected a table/]],
      [
        '[fleet]\ntake_over_after = "2s"',
        [/`fleet.take_over_after` is `2s`; expected .* 3s to 10m/],
      ],
      [
        '[fleet]\nremote = "--upload-pack=x"',
        [/`fleet.remote` is `--upload-pack=x`; expected 1 to/],
      ],
      ['[fleet]\nlabels = ["a b"]', [/`fleet.labels` is a list; expected a list of words/]],
      ['[fleet]\nagents = 65', [/`fleet.agents` is 65; expected a whole number from 0 to 64/]],
      ['[fleet]\nname = "a,b"', [/`fleet.name` is `a,b`; expected 1 to 64 characters/]],
      ['[fleet]\nname = ""', []],
      ['max_workres = 2', [], [/line 1: unknown key `max_workres`; did you mean `max_workers`\?/]],
      ['max_file_size = "1MB"', [], [/`max_file_size`; Drover calls it `max_commit_file_size`$/]],
      ['max_diff_size = "1MB"', [], [/`max_diff_size`; Drover has no limit for it, so the line/]],
      ['[gaet]\ncommand = "x"', [], [/line 2: unknown key `gaet.command`; did you mean `gate/]],
      ['[empty]\n[gate]\n', [], [/line 1: unknown key `empty`$/]],
      ['database = "sqlite:///x"', [], [/unknown key `database`/]],
      ['max_workers = ', [/line 1: not TOML at `max_workers`: /]],
      ['[gate]\ncommand = npm test', [/line 2: not TOML at `command`: Unexpected character/]],
      ['a = 1\na = 2', [/line 2: not TOML at `a`: /]],
      ['[gate', [/line 1: not TOML: /]],
      [
        'agent = "claude"\n[agent.env]\nA = "1"',
        [/line \d: `agent` is both a string and a table.*kind = /],
      ],
      ['[agent]\nkind = "codex"\n[agent.env]\nA = "1"', []],
    ];
    for (const [text, problems, warnings] of cases) check(text, problems, warnings ?? []);
  });

  test('agent is read as a string and as a table, in every spelling', () => {
    assert.equal(resolve('agent = "codex"').settings.agent.kind, 'codex');
    const spellings = [
      '[agent]\nkind = "command"\nargs = ["-x"]\nenv = { A = "1", B = "2" }',
      '[agent]\nkind = "command"\nargs = ["-x"]\n[agent.env]\nA = "1"\nB = "2"',
      'agent = { kind = "command", args = ["-x"], env = { A = "1", B = "2" } }',
      'agent.kind = "command"\nagent.args = ["-x"]\nagent.env.A = "1"\nagent.env.B = "2"',
    ];
    for (const text of spellings) {
      const { settings, problems, warnings } = resolve(text);
      assert.deepEqual([problems, warnings], [[], []], text);
      assert.equal(settings.agent.kind, 'command');
      assert.deepEqual(settings.agent.args, ['-x']);
      assert.deepEqual(settings.agent.env, { A: '1', B: '2' });
    }
  });

  test('secrets are hidden in shown settings', () => {
    const loaded = resolve('[agent.env]\nMY_API_KEY = "s3cret"\nOTHER = "plain"');
    assert.deepEqual(shownSettings(loaded)['agent.env']?.value, {
      MY_API_KEY: '[hidden]',
      OTHER: 'plain',
    });
    assert.equal(loaded.settings.agent.env['MY_API_KEY'], 's3cret');
  });

  test('an empty string removes a command', () => {
    assert.equal(resolve('[gate]\ncommand = ""').settings.gate.command, null);
  });

  test('the sample has no effect as it is, and loads without errors when its keys are enabled', () => {
    const sample = sampleToml();
    assert.deepEqual(parseSettingsText(sample, 'x'), { entries: [], problems: [] });
    for (const line of sample.split('\n')) assert.ok(line === '' || line.startsWith('#'), line);
    const on = sample.replaceAll(/^# (?=\[|\w+ = )/gm, '');
    const loaded = resolve(on);
    const faults = loaded.problems.map(({ message }) => message);
    // A gate is one command or stages, and the sample shows both.
    assert.match(faults.splice(0, 1)[0] ?? '', /`gate\.command` and `gate\.stages` are both set/);
    assert.deepEqual([faults, loaded.warnings], [[], []]);
    assert.equal(loaded.values['gate.command'].value, 'npm test');
    assert.equal(loaded.values['backend.idle_timeout'].source, 'project');
  });
});
