// A repository with everything through which a clone can start programs, the marks of programs that
// ran, and the tables of docs/clones.md that tests write and keep correct.

import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WebReceiver } from '../../doubles/web-receiver.ts';
import { makeProject, type Project } from './project.ts';

/** Programs that leave a mark with their name when they run, with the table's text for each. */
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
  editorAgent: 'an agent of the editor (`drover.agentPath` in `.vscode/settings.json`)',
  editorGate: 'a gate of the editor (`drover.gate` in `.vscode/settings.json`)',
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

const scripts = {
  'agent.sh': 'agent',
  'claude.sh': 'claude',
  'remote.sh': 'remote',
  'editor-agent.sh': 'editorAgent',
} as const;
const onPath = ['git', 'claude', 'codex', 'bwrap', 'ssh', 'bd', 'sqlforge', 'node', 'sh'] as const;

function files(): Record<string, string> {
  const script = (name: Canary): string => `#!/bin/sh\necho x >> "$HOME/ran/${name}"\n`;
  // Without a change, the gate does not run.
  const worked = 'echo x > "$DROVER_TASK_ID.txt"\n';
  const named = Object.entries(scripts).map(([path, name]) => [path, script(name) + worked]);
  const fakes = onPath.map((name) => [`tools/${name}`, script('path')]);
  const hooks = ['.githooks/pre-commit', '.githooks/post-checkout', '.husky/pre-commit'];
  const config = `[core]\n\thooksPath = .githooks\n\tfsmonitor = "${mark('filter')}"\n[filter "x"]\n\tclean = ${mark('filter')}\n\tsmudge = ${mark('filter')}\n[diff "x"]\n\ttextconv = ${mark('filter')}\n[merge "x"]\n\tdriver = ${mark('filter')}\n`;
  const server = { command: 'sh', args: ['canary.sh', 'mcp'] };
  const shell = { type: 'command', command: mark('claudeHook') };
  return {
    ...Object.fromEntries([...named, ...fakes, ...hooks.map((path) => [path, script('hook')])]),
    'canary.sh': '#!/bin/sh\necho x >> "$HOME/ran/$1"\n',
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
    '.vscode/settings.json': json({
      'git.path': './tools/git',
      'drover.agent': 'claude',
      'drover.agentPath': './editor-agent.sh',
      'drover.gate': mark('editorGate'),
      'drover.showPreflight': false,
    }),
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

/** A fresh clone, as a person gets it; `url` is the target of its webhooks and traces. */
export function hostileClone(url: string, make = makeProject): Project {
  const here = make({
    files: files(),
    settings: toml(url),
    env: { DROVER_AGENT_TYPE: '', DROVER_AGENT_PATH: '', A_TOKEN: 'token-of-the-person' },
  });
  const absolute = here.read('repo/.drover.toml').replaceAll('$PWD_OF_CLONE', here.root);
  here.write('repo/.drover.toml', absolute);
  here.sh(here.root, 'chmod +x *.sh tools/* .githooks/* .husky/*');
  here.git('commit', '-qam', 'runnable');
  // The PATH that the clone sets contains no mkdir.
  mkdirSync(join(here.folder, 'home', 'ran'));
  mkdirSync(join(here.folder, 'upstream'));
  here.gitIn(here.folder, 'clone', '-q', 'repo', 'upstream');
  here.sh(here.folder, 'rm -rf repo && git clone -q upstream repo');
  // A PATH that many people have.
  (here.env as Record<string, string>)['PATH'] = `./tools:tools:${here.env['PATH'] ?? ''}`;
  return here;
}

/** The programs that have run, and the requests that were sent, so far. */
export function marksOf(here: Project, receiver: WebReceiver): readonly string[] {
  const ran = join(here.folder, 'home', 'ran');
  const names = readdirSync(ran);
  const posts = receiver.received.map(({ path }) =>
    path === '/webhook' ? 'webhook' : 'telemetry',
  );
  return [...names, ...posts];
}

/**
 * Compares the table of that name with the consent after which each mark was found; UPDATE_GOLDEN=1
 * writes it.
 */
export function holdTable(name: 'command' | 'editor', found: ReadonlyMap<string, string>): void {
  const rows = Object.entries({ ...programs, ...hosts }).map(
    ([key, text]) => `| ${text} | ${found.get(key) ?? 'never by Drover'} |`,
  );
  const table = `| what the clone brings | starts after |\n|---|---|\n${rows.join('\n')}\n`;
  const path = new URL('../../../docs/clones.md', import.meta.url);
  const doc = readFileSync(path, 'utf8');
  const [start, end] = [`<!-- ${name} rows -->\n`, '<!-- end -->\n'];
  const from = doc.indexOf(start) + start.length;
  const to = doc.indexOf(end, from);
  assert.ok(from >= start.length && to >= from, `docs/clones.md has a table ${name}`);
  if (process.env['UPDATE_GOLDEN'] === '1') {
    writeFileSync(path, doc.slice(0, from) + table + doc.slice(to));
  } else assert.equal(doc.slice(from, to), table);
}
