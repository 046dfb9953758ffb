// Everything that a hostile clone can bring, through every command: what runs, and after which word
// of a person's. docs/clones.md is the table; this test writes it and holds it true.

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startWebReceiver, type WebReceiver } from '../doubles/web-receiver.ts';
import { eventually } from './support/eventually.ts';
import type { Project } from './support/project.ts';
import { useProjects } from './support/suite-projects.ts';

/** What leaves a mark of its name when it runs, with the words of the table for it. */
const programs = {
  agent: 'the agent (`agent.path`)',
  claude: 'another agent (`agents.claude`)',
  gate: 'the gate (`gate.command`)',
  setup: 'the setup (`setup.command`)',
  remote: 'the script that makes workers (`remote.hook`)',
  hook: 'git hooks (`.githooks`, `.husky`)',
  filter: 'git filters, diff and merge drivers (`.gitattributes`, `.gitconfig`)',
  module: 'a submodule with a command as its address (`.gitmodules`)',
  task: 'tasks of the editor (`.vscode/tasks.json`)',
  mcp: 'MCP servers (`.mcp.json`, `.vscode/mcp.json`)',
  claudeHook: 'hooks of an agent (`.claude/settings.json`)',
  envrc: '`.envrc` and `.env`',
  npm: 'scripts of `package.json`, `.npmrc`',
  path: 'programs named `git`, `claude`, `codex`, `bwrap`, `ssh`, `bd` and `sqlforge` on a relative `PATH`',
} as const;
type Canary = keyof typeof programs;

const hosts = {
  webhook: 'webhooks (`webhooks.endpoints`)',
  telemetry: 'the collector of traces (`telemetry.endpoint`)',
} as const;

const mark = (name: Canary): string => `sh canary.sh ${name}`;
const json = (value: unknown): string => JSON.stringify(value);

const toml = (url: string): string => `
env_allow = ["A_TOKEN"]
[agent]
kind = "command"
path = "./agent.sh"
[agent.env]
PATH = "./tools"
[agents.claude]
path = "./claude.sh"
[gate]
command = "$PWD_OF_CLONE/canary.sh gate"
[setup]
command = "$PWD_OF_CLONE/canary.sh setup"
[commit]
run_hooks = true
[remote]
provisioner = "hook"
hook = "remote.sh"
[fleet]
remote = "ext::sh"
[webhooks]
allow_private = true
[webhooks.endpoints.chat]
url = "${url}/webhook"
[telemetry]
enabled = true
endpoint = "${url}"
agents = true
`;

const scripts = { 'agent.sh': 'agent', 'claude.sh': 'claude', 'remote.sh': 'remote' } as const;
const onPath = ['git', 'claude', 'codex', 'bwrap', 'ssh', 'bd', 'sqlforge', 'node', 'sh'] as const;

function files(): Record<string, string> {
  const script = (name: Canary): string =>
    `#!/bin/sh\nmkdir -p "$HOME/ran"\necho x >> "$HOME/ran/${name}"\n`;
  // Without a change there is nothing for the gate.
  const worked = 'echo x > "$DROVER_TASK_ID.txt"\n';
  const named = Object.entries(scripts).map(([path, name]) => [path, script(name) + worked]);
  const fakes = onPath.map((name) => [`tools/${name}`, script('path')]);
  const hooks = ['.githooks/pre-commit', '.githooks/post-checkout', '.husky/pre-commit'];
  const config = `[core]\n\thooksPath = .githooks\n\tfsmonitor = "${mark('filter')}"\n[filter "x"]\n\tclean = ${mark('filter')}\n\tsmudge = ${mark('filter')}\n[diff "x"]\n\ttextconv = ${mark('filter')}\n[merge "x"]\n\tdriver = ${mark('filter')}\n`;
  const server = { command: 'sh', args: ['canary.sh', 'mcp'] };
  const shell = { type: 'command', command: mark('claudeHook') };
  return {
    ...Object.fromEntries([...named, ...fakes, ...hooks.map((path) => [path, script('hook')])]),
    'canary.sh': '#!/bin/sh\nmkdir -p "$HOME/ran"\necho x >> "$HOME/ran/$1"\n',
    'x.txt': 'x\n',
    'design.md': 'Build it.\n',
    'plan.jsonl': '{"id":"t9","title":"Nine"}\n',
    '.gitattributes': '* filter=x diff=x merge=x\n',
    '.gitconfig': config,
    '.gitmodules': `[submodule "m"]\n\tpath = m\n\turl = ext::${mark('module')}\n\tupdate = !${mark('module')}\n`,
    '.vscode/tasks.json': json({
      version: '2.0.0',
      tasks: [
        { label: 'x', type: 'shell', command: mark('task'), runOptions: { runOn: 'folderOpen' } },
      ],
    }),
    '.vscode/settings.json': json({ 'git.path': './tools/git' }),
    '.vscode/mcp.json': json({ servers: { x: server } }),
    '.mcp.json': json({ mcpServers: { x: server } }),
    '.claude/settings.json': json({
      hooks: { SessionStart: [{ hooks: [shell] }], Stop: [{ hooks: [shell] }] },
    }),
    '.envrc': `${mark('envrc')}\n`,
    '.env': `DROVER_AGENT_PATH=./agent.sh\nX=$(${mark('envrc')})\n`,
    '.npmrc': 'script-shell=./tools/sh\n',
    'package.json': json({ scripts: { preinstall: mark('npm'), test: mark('npm') } }),
  };
}

/** A call of each command that needs no word for what the clone names. `ID` is a task. */
const calls: Readonly<Record<string, readonly string[]>> = {
  init: ['init'],
  epic: ['epic add E', 'epic list'],
  add: ['add Task', 'add Other --agent claude'],
  templates: ['templates'],
  edit: ['edit ID --priority 2'],
  spec: ['spec design.md --yes'],
  status: ['status', 'status --json'],
  show: ['show ID'],
  why: ['why ID'],
  log: ['log ID'],
  events: ['events'],
  diff: ['diff ID'],
  snapshots: ['snapshots ID'],
  report: ['report ID'],
  trace: ['trace export ID'],
  metrics: ['metrics'],
  at: ['at 1 status'],
  approve: ['approve ID'],
  'send-back': ['send-back ID again'],
  undo: ['undo ID'],
  pause: ['pause ID'],
  'resume-task': ['resume-task ID'],
  hint: ['hint ID quick'],
  answer: ['answer q-1 yes'],
  resolve: ['resolve ID --note x'],
  cancel: ['cancel ID'],
  retry: ['retry ID'],
  restore: ['restore ID'],
  reset: ['reset'],
  import: ['import plan.jsonl'],
  sync: ['sync beads .'],
  export: ['export'],
  machines: ['machines'],
  fleet: ['fleet grant someone'],
  worktree: ['worktree list', 'worktree prune'],
  prune: ['prune --dry-run'],
  doctor: ['doctor', 'doctor --sandbox'],
  trust: ['trust'],
  mcp: ['mcp'],
  sqlforge: ['sqlforge status'],
  migrate: ['migrate --to postgresql://x@127.0.0.1:9/x'],
  server: ['server stop'],
  'worker-runtime': ['worker-runtime --listen 127.0.0.1:0'],
  worker: ['worker'],
  completion: ['completion bash'],
  remote: ['remote list', 'remote test', 'remote preview', 'remote destroy x'],
  webhooks: ['webhooks list', 'webhooks test', 'webhooks retry'],
  help: ['help'],
};
/** A person's word for what the clone names, and what the table calls it. */
const words = new Set(['run', 'resume']);

suite('what a hostile clone starts', function () {
  this.timeout(480_000);
  const project = useProjects();
  let receiver: WebReceiver;

  setup(async () => {
    receiver = await startWebReceiver();
  });
  teardown(() => receiver.close());

  test('nothing before a word of a person, and what docs/clones.md says after it', async () => {
    const here = hostile(project, receiver.url);
    const clone = join(here.folder, 'repo');
    const found = new Map<string, string>();
    const look = (after: string): void => {
      const ran = join(here.folder, 'home', 'ran');
      const names = existsSync(ran) ? readdirSync(ran) : [];
      const posts = receiver.received.map(({ path }) =>
        path === '/webhook' ? 'webhook' : 'telemetry',
      );
      for (const name of [...names, ...posts]) if (!found.has(name)) found.set(name, after);
    };
    const help = await here.expect(0, ['--help']);
    const listed = [...help.matchAll(/^ {2}([a-z][a-z-]+)(?:\|[a-z-]+)?(?= |$)/gm)].map(
      ([, name = '']) => name,
    );
    const missing = new Set(listed.filter((name) => !words.has(name) && !(name in calls)));
    assert.deepEqual([...missing], []);

    await here.drover(['init'], { cwd: clone });
    const task = await here.add('First');
    for (const line of Object.values(calls).flat()) {
      const args = line.split(' ').map((word) => (word === 'ID' ? task : word));
      await here.drover(args, { cwd: clone });
      look(`\`drover ${line}\``);
    }
    assert.deepEqual([...found], [], 'before any word');

    await here.expect(0, ['trust', '--yes']);
    await here.drover(['remote', 'list']);
    const next = await here.add('Second');
    await here.drover(['hint', next, 'quick']);
    await here.add('Third');
    await eventually('the webhook is sent', () =>
      receiver.received.some(({ path }) => path === '/webhook'),
    );
    look('`drover trust`');
    await here.drover(['run']);
    await eventually('the traces are sent', () =>
      receiver.received.some(({ path }) => path === '/v1/traces'),
    );
    look('`drover run`');
    const rows = Object.entries({ ...programs, ...hosts }).map(([name, text]) => {
      const after = found.get(name);
      return `| ${text} | ${after ?? 'never by Drover'} |`;
    });
    const path = new URL('../../docs/clones.md', import.meta.url);
    const doc = readFileSync(path, 'utf8');
    const isRow = (line: string): boolean => /^\| (?!what the|---)/.test(line);
    if (process.env['UPDATE_GOLDEN'] === '1') {
      const [before = '', after = ''] = doc.split(/<!-- rows -->\n(?:\|.*\n)*<!-- end -->\n/);
      const table = `| what the clone brings | starts after |\n|---|---|\n${rows.join('\n')}\n`;
      writeFileSync(path, `${before}<!-- rows -->\n${table}<!-- end -->\n${after}`);
    } else assert.deepEqual(doc.split('\n').filter(isRow), rows);
  });
});

function hostile(make: ReturnType<typeof useProjects>, url: string): Project {
  const here = make({
    files: files(),
    settings: toml(url),
    env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '', A_TOKEN: 'token-of-the-person' },
  });
  const absolute = here.read('repo/.drover.toml').replaceAll('$PWD_OF_CLONE', here.root);
  here.write('repo/.drover.toml', absolute);
  here.sh(here.root, 'chmod +x *.sh tools/* .githooks/* .husky/*');
  here.git('commit', '-qam', 'runnable');
  mkdirSync(join(here.folder, 'upstream'));
  here.gitIn(here.folder, 'clone', '-q', 'repo', 'upstream');
  here.sh(here.folder, 'rm -rf repo && git clone -q upstream repo');
  // As many people have it.
  (here.env as Record<string, string>)['PATH'] = `./tools:tools:${here.env['PATH'] ?? ''}`;
  return here;
}
