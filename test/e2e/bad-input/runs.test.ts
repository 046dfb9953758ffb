// Runs that cannot start: workers, targets, repositories, git and agents.

import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { removeFolder } from '../../remove-folder.ts';
import { check, type Row } from './support/check.ts';
import { nodeProgram } from './support/command.ts';
import { shareOf, table } from './support/lanes.ts';
import { git, type Place } from './support/place.ts';

const demo = { env: { DROVER_AGENT_TYPE: 'demo' } };

function run(title: string, args: readonly string[], words: Row['words'], more: Partial<Row>): Row {
  return { title, args: ['run', ...args], call: demo, code: 3, words, ...more };
}

const wishes: readonly Row[] = [
  ...['0', '-1', '65', '1000'].map((count) =>
    run(`--workers ${count}`, ['--workers', count], ['--workers', count, 'from 1 to 64'], {
      kind: 'bad_configuration',
    }),
  ),
  run('--target without such a branch', ['--target', 'nowhere'], ['nowhere', 'git branch'], {
    kind: 'unknown_branch',
  }),
  run('--target -x', ['--target=-x'], ['-x', 'branch of your own'], { kind: 'bad_target' }),
  run('--target refs/heads/main', ['--target', 'refs/heads/main'], ['refs/heads/main', 'main'], {
    kind: 'bad_target',
  }),
  run("--target of Drover's own", ['--target', 'drover/epic/x'], ['drover/epic/x', 'your own'], {
    kind: 'bad_target',
  }),
  run('--target with a blank', ['--target', 'a b'], ['a b', '--target'], {}),
  run('--target main~1', ['--target', 'main~1'], ['main~1', '--target'], {}),
  run('--target that is a tag', ['--target', 'v1'], ['v1', 'branch'], {
    kind: 'unknown_branch',
    prepare: (place) => void git(place, 'tag', 'v1'),
  }),
  run('a detached HEAD', [], ['detached', '--target'], {
    kind: 'detached_head',
    prepare: (place) => void git(place, 'checkout', '--quiet', '--detach'),
  }),
  run('an epic that has no task', ['--epic', 'EPIC-2'], ['EPIC-2'], { kind: 'unknown_id' }),
  run('--land epic without an epic', ['--land', 'epic'], ['--land epic', '--epic'], {}),
  run('--land review without an epic', ['--land', 'review'], ['--land review', '--epic'], {}),
];

/** A script named git that prints something else, first on PATH. */
function otherGit(place: Place, script: string | null): NodeJS.ProcessEnv {
  const bin = join(place.folder, 'bin');
  mkdirSync(bin, { recursive: true });
  symlinkSync(nodeProgram, join(bin, 'node'));
  if (script !== null) {
    writeFileSync(join(bin, 'git'), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, 'git'), 0o755);
  }
  return { PATH: script === null ? bin : `${bin}:${process.env['PATH'] ?? ''}` };
}

/** Commands that need git, with a wrong git. */
function withGit(title: string, script: string | null, words: Row['words']): readonly Row[] {
  const prepare = (place: Place): void => void otherGit(place, script);
  const call = (place: Place): { env: Record<string, string> } => {
    const bin = join(place.folder, 'bin');
    return { env: { PATH: script === null ? bin : `${bin}:${process.env['PATH'] ?? ''}` } };
  };
  return [
    {
      title: `init with ${title}`,
      base: 'repository',
      prepare,
      call,
      args: ['init'],
      code: 3,
      words,
    },
    { title: `worktrees with ${title}`, prepare, call, args: ['worktree', 'list'], code: 3, words },
    { title: `run with ${title}`, prepare, call, args: ['run'], code: 3, words },
  ];
}

const gits: readonly Row[] = [
  ...withGit('git missing', null, ['Git', 'install', 'PATH']),
  ...withGit('git 2.20', 'echo git version 2.20.1', ['2.20.1', 'too old', '2.38', 'Install']),
  ...withGit('a git that says nothing', 'exit 0', ['git', 'version', 'PATH']).slice(0, 1),
  ...withGit('a git that fails', 'echo broken >&2; exit 9', ['Git', 'version', 'broken']).slice(
    0,
    1,
  ),
];

const repositories: readonly Row[] = [
  {
    title: 'init in a folder without a repository',
    base: 'folder',
    args: ['init'],
    code: 3,
    kind: 'not_a_repository',
    words: ['repo', 'git init'],
  },
  {
    title: 'init in a bare repository',
    base: 'folder',
    prepare: (place) => void git(place, 'init', '--quiet', '--bare', '--template=', '.'),
    args: ['init'],
    code: 3,
    kind: 'not_a_repository',
    words: ['repo', 'bare', 'checkout'],
  },
  {
    title: 'init in a folder that is not there',
    base: 'folder',
    args: ['init', '-C', 'nowhere'],
    code: 3,
    kind: 'not_a_repository',
    words: ['nowhere', 'does not exist'],
  },
  {
    title: 'a command outside of a project',
    base: 'repository',
    args: ['status'],
    code: 3,
    kind: 'no_project',
    words: ['repo', 'drover init'],
  },
  {
    title: 'a command in a folder that is not there',
    args: ['status', '-C', '/nonexistent/folder'],
    code: 3,
    kind: 'no_project',
    words: ['/nonexistent/folder', 'drover init'],
  },
  run('a repository without a commit', [], ['no commit', 'git commit'], {
    kind: 'no_commit',
    prepare: (place) => {
      git(place, 'update-ref', '-d', 'refs/heads/main');
    },
  }),
  {
    title: 'a project whose repository is gone',
    prepare: (place) => removeFolder(join(place.root, '.git')),
    args: ['run'],
    code: 3,
    kind: 'not_a_repository',
    words: ['repo', 'git init'],
  },
  {
    title: 'a repository of somebody else',
    base: 'repository',
    prepare: (place) => void execFileSync('chown', ['-R', '65534:65534', place.root]),
    args: ['init'],
    code: 3,
    kind: 'not_a_repository',
    words: ['repo', 'dubious ownership', 'safe.directory'],
  },
];

function agent(title: string, env: Record<string, string>, words: Row['words'], kind: string): Row {
  return { title, args: ['run'], call: { env }, code: 3, kind, words };
}

const agents: readonly Row[] = [
  agent(
    'an agent whose program is not there',
    { DROVER_AGENT_TYPE: 'command', DROVER_AGENT_PATH: '/nonexistent/agent' },
    ['/nonexistent/agent', 'DROVER_AGENT_PATH'],
    'agent_missing',
  ),
  agent(
    'an agent whose program is a folder',
    { DROVER_AGENT_TYPE: 'command', DROVER_AGENT_PATH: '/tmp' },
    ['/tmp', 'DROVER_AGENT_PATH'],
    'agent_missing',
  ),
  agent(
    'an agent whose program may not be executed',
    { DROVER_AGENT_TYPE: 'command', DROVER_AGENT_PATH: '/etc/passwd' },
    ['/etc/passwd', 'execut'],
    'agent_missing',
  ),
  agent(
    'the kind command without a program',
    { DROVER_AGENT_TYPE: 'command' },
    ['DROVER_AGENT_PATH'],
    'agent_missing',
  ),
  agent(
    'claude, which is not installed',
    { DROVER_AGENT_TYPE: 'claude', DROVER_AGENT_PATH: '/nonexistent/claude' },
    ['/nonexistent/claude', 'DROVER_AGENT_PATH'],
    'agent_missing',
  ),
  agent(
    'an unknown kind of agent',
    { DROVER_AGENT_TYPE: 'gpt' },
    ['DROVER_AGENT_TYPE', 'gpt', 'claude', 'command'],
    'bad_configuration',
  ),
  agent(
    'amp, which is not installed',
    { DROVER_AGENT_TYPE: 'amp', DROVER_AGENT_PATH: '/nonexistent/amp' },
    ['/nonexistent/amp', 'DROVER_AGENT_PATH', 'npm install'],
    'agent_missing',
  ),
  {
    title: 'the agent of one task is missing',
    prepare: async (place) => {
      const { runDrover } = await import('./support/command.ts');
      await runDrover({ cwd: place.root, home: place.home, args: ['edit', 'C', '--agent', 'amp'] });
    },
    args: ['run'],
    call: demo,
    code: 3,
    kind: 'agent_missing',
    words: ['amp'],
  },
];

table('runs that cannot begin', shareOf(wishes), check);
table('git', shareOf(gits), check);
table('repositories', repositories, check);
table('agents', shareOf(agents), check);
